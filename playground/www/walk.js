// Guided simulation: a trail of states, the steps that are enabled at its end, and its values.

const make = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element[name] = value;
  element.append(...children);
  return element;
};
const button = (text, onclick, attributes = {}) => make("button", { type: "button", onclick, ...attributes }, text);

export class Walk {
  // Begins in the first initial state; null if there is no model.
  static async begin(questions, panel) {
    const start = await questions.ask({ what: "start" });
    if (!start) return null;
    const walk = new Walk(questions, panel, start);
    await walk.draw();
    return walk;
  }

  constructor(questions, panel, start) {
    Object.assign(this, { questions, panel, start, trail: [{ node: start.nodes[0], title: "start" }], expansions: new Map() });
  }

  get here() { return this.trail[this.trail.length - 1]; }

  async expansion(id) {
    if (!this.expansions.has(id)) this.expansions.set(id, await this.questions.ask({ what: "expand", node: id }));
    return this.expansions.get(id);
  }

  async take(edge, nodes) {
    this.trail.push({ node: nodes.find((node) => node.id === edge.to), title: edge.title });
    await this.draw();
  }

  async back(length) {
    this.trail.length = Math.max(1, length);
    await this.draw();
  }

  // A list of the initial states, if there are several: what differs between them.
  initial() {
    const { nodes, names } = this.start;
    if (nodes.length === 1) return "";
    const differing = names.map((_, index) => index).filter((index) => nodes.some((node) => node.values[index] !== nodes[0].values[index]));
    const text = (node) => differing.map((index) => `${names[index]} = ${node.values[index]}`).join(", ");
    const options = nodes.map((node, index) => make("option", { value: index, selected: this.trail[0].node.id === node.id }, text(node)));
    const onchange = async (event) => {
      this.trail = [{ node: nodes[Number(event.target.value)], title: "start" }];
      await this.draw();
    };
    return make("label", {}, "begin with ", make("select", { className: "initial", onchange }, ...options));
  }

  async draw() {
    const { node } = this.here, before = this.trail[this.trail.length - 2]?.node;
    const expansion = await this.expansion(node.id);
    if (!expansion || this.here.node !== node) return;
    const { edges = [], nodes = [], disabled = [], error } = expansion;
    const marks = [
      ...node.violated.map((name) => make("b", { className: "violated" }, `✗ ${name} is violated here `)),
      ...node.reached.map((name) => make("b", { className: "holds" }, `✓ ${name} is reached here `)),
      ...node.fault ? [make("b", { className: "violated" }, `runtime error: ${node.fault} `)] : [],
    ];
    const steps = edges.map((edge) => make("li", {}, button("", () => this.take(edge, nodes), { className: "step" })));
    steps.forEach((item, index) => item.firstChild.append(edges[index].title, " ", make("span", { className: "soft" }, edges[index].effect)));
    const list = make("ol", { className: "steps" }, ...steps);
    if (error) list.append(make("li", {}, error));
    else if (edges.length === 0) list.append(make("li", { className: "soft" }, "no step is enabled"));
    const any = () => this.take(edges[Math.floor(Math.random() * edges.length)], nodes);
    const trail = this.trail.map(({ title }, index) => make("li", {}, make("span", {}, String(index)),
      button(title, () => this.back(index + 1), { className: index === this.trail.length - 1 ? "here" : "" })));
    const rows = this.start.names.map((name, index) => make("tr", { className: before && before.values[index] !== node.values[index] ? "changed" : "" },
      make("td", {}, name), make("td", { className: "mono" }, node.values[index])));
    this.panel.replaceChildren(
      make("div", { className: "row" },
        button("Back", () => this.back(this.trail.length - 1), { disabled: this.trail.length === 1, className: "back" }),
        button("Restart", () => this.back(1), { disabled: this.trail.length === 1 }),
        button("Random step", any, { disabled: edges.length === 0 }), this.initial(), make("span", {}, ...marks)),
      make("div", { className: "walk" },
        make("div", {}, make("h3", {}, "Enabled steps"), list, this.others(node, disabled), make("h3", {}, "Trail"), make("ol", { className: "trail" }, ...trail)),
        make("div", {}, make("h3", {}, "Values"), make("table", {}, make("tbody", {}, ...rows)))));
  }

  // Steps that are not enabled, each with the reason when it is asked for.
  others(node, disabled) {
    if (disabled.length === 0) return "";
    const item = ({ transition, title }) => {
      const lines = make("pre", {});
      const details = make("details", {}, make("summary", {}, title), lines);
      details.ontoggle = async () => {
        if (!details.open || lines.textContent) return;
        const answer = await this.questions.ask({ what: "why", node: node.id, transition });
        lines.textContent = answer?.lines?.join("\n") ?? answer?.error ?? "";
      };
      return make("li", {}, details);
    };
    return make("div", {}, make("h3", {}, "Not enabled"), make("ul", {}, ...disabled.map(item)));
  }
}
