//! The fabric on timely dataflow: one operator in a feedback loop, whose time is the level.
//!
//! The operator only hands blocks over: what arrives goes to the inbox, what is in the outbox is sent with the capability of the level
//! that the worker is at. The loop adds 1 to the time, so a block sent at level t arrives at t + 1; its frontier passes t + 1 when no
//! worker holds a capability for t any more, and everything sent with one was received. The search itself runs outside of the
//! operator, between steps of timely, and so may borrow its model.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::{Duration, Instant};

use timely::WorkerConfig;
use timely::communication::{Allocator, Push};
use timely::container::NoopBuilder;
use timely::dataflow::channels::Message;
use timely::dataflow::channels::pact::DistributorPact;
use timely::dataflow::channels::pushers::exchange::Distributor;
use timely::dataflow::operators::Capability;
use timely::dataflow::operators::core::feedback::{ConnectLoop, Feedback};
use timely::dataflow::operators::generic::OutputBuilder;
use timely::dataflow::operators::generic::builder_rc::OperatorBuilder;
use timely::scheduling::Activator;
use timely::worker::Worker;

use crate::block::{Block, Kind};
use crate::fabric::Fabric;

/// Sends each block to its receiver, whole.
struct ByReceiver;

impl Distributor<Block> for ByReceiver {
    fn partition<T: Clone, P: Push<Message<T, Block>>>(&mut self, block: &mut Block, time: &T, pushers: &mut [P]) {
        let to = block.to as usize;
        Message::push_at(block, time.clone(), &mut pushers[to]);
    }

    fn flush<T: Clone, P: Push<Message<T, Block>>>(&mut self, _: &T, _: &mut [P]) {}
}

/// What the operator is told to do.
enum Order {
    Send(Block),
    Advance,
    Close,
}

/// What the operator and the search share.
struct Port {
    inbox: VecDeque<(u32, Block)>,
    outbox: VecDeque<Order>,
    /// The right to send at a level; none when the worker has closed.
    capability: Option<Capability<u32>>,
    /// Nothing arrives any more before this level; none when nothing arrives at all.
    frontier: Option<u32>,
}

/// A worker of timely with the dataflow of a search.
pub(crate) struct Dataflow {
    worker: Worker,
    port: Rc<RefCell<Port>>,
    activator: Activator,
}

impl Dataflow {
    /// Builds the dataflow, as every worker does.
    pub(crate) fn new(allocator: Allocator) -> Self {
        // Without a clock timely would never park, and wait by looking again and again. No answer depends on it.
        let mut worker = Worker::new(WorkerConfig::default(), allocator, Some(Instant::now()));
        let port = Port { inbox: VecDeque::new(), outbox: VecDeque::new(), capability: None, frontier: Some(0) };
        let port = Rc::new(RefCell::new(port));
        let shared = Rc::clone(&port);
        let activator = worker.dataflow::<u32, _, _>(|scope| {
            let (handle, cycle) = scope.feedback::<Block>(1);
            let mut builder = OperatorBuilder::new("search".to_owned(), scope);
            let pact = DistributorPact(|_| ByReceiver);
            let mut input = builder.new_input(cycle, pact);
            let (output, stream) = builder.new_output::<Block>();
            let mut output = OutputBuilder::<_, NoopBuilder<Block>>::from(output);
            let activator = scope.activator_for(builder.operator_info().address);
            builder.build(move |mut capabilities| {
                shared.borrow_mut().capability = capabilities.pop();
                move |frontiers| {
                    let port = &mut *shared.borrow_mut();
                    input.for_each(|time, block| port.inbox.push_back((*time.time(), std::mem::take(block))));
                    let mut output = output.activate();
                    port.carry_out(|capability, block| {
                        output.session_with_builder(capability).give_container(block);
                    });
                    port.frontier = frontiers[0].frontier().first().copied();
                }
            });
            stream.connect_loop(handle);
            activator
        });
        Self { worker, port, activator }
    }

    /// Goes on until all workers have closed, and everything has arrived.
    pub(crate) fn finish(mut self) {
        self.close();
        while self.worker.has_dataflows() {
            self.worker.step_or_park(None);
        }
    }
}

impl Port {
    /// Carries out all orders, in turn.
    fn carry_out(&mut self, mut send: impl FnMut(&Capability<u32>, &mut Block)) {
        while let Some(order) = self.outbox.pop_front() {
            let Some(capability) = &mut self.capability else { continue };
            match order {
                Order::Send(mut block) => send(capability, &mut block),
                Order::Advance => {
                    let next = capability.time() + 1;
                    capability.downgrade(&next);
                }
                Order::Close => self.capability = None,
            }
        }
    }
}

impl Fabric for Dataflow {
    fn index(&self) -> usize {
        self.worker.index()
    }

    fn workers(&self) -> usize {
        self.worker.peers()
    }

    fn send(&mut self, mut block: Block) {
        debug_assert!(block.kind != Kind::Empty, "there is something to send");
        block.from = self.worker.index() as u32;
        self.port.borrow_mut().outbox.push_back(Order::Send(block));
    }

    fn receive(&mut self) -> Option<(u32, Block)> {
        self.port.borrow_mut().inbox.pop_front()
    }

    fn advance(&mut self) {
        self.port.borrow_mut().outbox.push_back(Order::Advance);
    }

    fn is_complete(&self, level: u32) -> bool {
        let port = self.port.borrow();
        port.inbox.is_empty() && port.outbox.is_empty() && port.frontier.is_none_or(|frontier| frontier > level)
    }

    fn step(&mut self, patience: Duration) {
        if !self.port.borrow().outbox.is_empty() {
            self.activator.activate();
            self.worker.step();
        } else if self.port.borrow().inbox.is_empty() {
            self.worker.step_or_park(Some(patience));
        }
    }

    fn close(&mut self) {
        self.port.borrow_mut().outbox.push_back(Order::Close);
        self.activator.activate();
    }
}
