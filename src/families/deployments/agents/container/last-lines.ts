import { demultiplex } from '../../../../agents/container/demultiplex.ts'
import { Mask } from '../../../../agents/mask.ts'
import { fitText } from '../../../../client/agent/fit-text.ts'
import { LineSplitter } from '../../../../client/gadget/line-splitter.ts'
import { MAX_LINE_BYTES } from '../../../../core/gadget/protocol.ts'
import type { Config } from './read-config.ts'
import type { Run } from './run.ts'

const MOST_LINES = 10
const MAX_LINE = 300

/** The end of a log, to be put behind an error. */
export class LastLines {
  readonly #lines: string[] = []

  add(line: string): void {
    this.#lines.push(fitText(line, { max: MAX_LINE }))
    if (this.#lines.length > MOST_LINES) this.#lines.shift()
  }

  get text(): string {
    return this.#lines.length === 0 ? '' : ` Its last lines:\n${this.#lines.join('\n')}`
  }
}

/** The end of the log of a service. */
export async function lastLinesOf({ engine, context }: Run, config: Config, id: string): Promise<string> {
  const mask = new Mask(Object.values(config.secrets))
  const last = new LastLines()
  const splitter = new LineSplitter(MAX_LINE_BYTES, (line, isCut) => last.add(mask.apply(line, isCut)))
  const take = demultiplex((_stream, chunk) => splitter.write(chunk))
  for await (const chunk of await engine.output(id, false, context.signal)) take(chunk as Buffer)
  splitter.end()
  return last.text
}
