// The sequence chart of a trace, from what `birk replay --format mermaid` writes.

export interface Message {
  /** The step that receives it, from 1. */
  step: number;
  from: number;
  to: number;
  label: string;
  /** Whether sending and receiving are one step. */
  isRendezvous: boolean;
}

export interface Chart {
  lanes: string[];
  /** The lane and the title of each step. */
  steps: { lane: number; title: string }[];
  messages: Message[];
}

/** Reads a chart; lines that it does not know are left out. */
export function parseChart(text: string): Chart {
  const chart: Chart = { lanes: [], steps: [], messages: [] };
  for (const line of text.split("\n")) {
    const lane = /^ *participant T\d+ as (.*)$/.exec(line);
    const note = /^ *Note over T(\d+): \d+\. (.*)$/.exec(line);
    const arrow = /^ *T(\d+)(->>|-\))T(\d+): (.*)$/.exec(line);
    if (lane) chart.lanes.push(plain(lane[1]));
    if (note) chart.steps.push({ lane: Number(note[1]), title: plain(note[2]?.split("<br/>")[0]) });
    if (arrow) {
      // An arrow stands before the note of the step that receives the message.
      chart.messages.push({
        step: chart.steps.length + 1,
        from: Number(arrow[1]),
        to: Number(arrow[3]),
        label: plain(arrow[4]),
        isRendezvous: arrow[2] === "->>",
      });
    }
  }
  return chart;
}

const ENTITIES: Record<string, string> = { "#lt;": "<", "#gt;": ">", "#35;": "#", "#59;": ";" };

function plain(text = ""): string {
  return text.replace(/#(?:lt|gt|35|59);/g, (entity) => ENTITIES[entity] ?? entity);
}
