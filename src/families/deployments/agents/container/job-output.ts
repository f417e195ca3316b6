import { Mask } from '../../../../agents/mask.ts'
import { LineSplitter } from '../../../../client/gadget/line-splitter.ts'
import type { LogStream, WorkContext } from '../../../../client/index.ts'
import { GadgetOutput } from '../../../../core/gadget/output.ts'
import { type GadgetMode, MAX_LINE_BYTES } from '../../../../core/gadget/protocol.ts'
import { LastLines } from './last-lines.ts'
import type { Config } from './read-config.ts'

interface OutputOptions {
  readonly mode: GadgetMode
  readonly config: Config
  readonly context: WorkContext
  /** Called once, when the output breaks the protocol. */
  onBroken(): void
}

/** Reads the output of a job: progress and exports from lines of the gadget protocol, everything else as its log. */
export class JobOutput {
  readonly gadget: GadgetOutput
  readonly #last = new LastLines()
  readonly #stdout: LineSplitter
  readonly #stderr: LineSplitter

  constructor({ mode, config, context, onBroken }: OutputOptions) {
    const mask = new Mask(Object.values(config.secrets))
    this.gadget = new GadgetOutput(mode, {
      onStep: (step) => context.log('STEP', step),
      onProgress: (progress) => context.report({ progress }),
    })
    const log = (stream: LogStream, line: string): void => {
      this.#last.add(line)
      context.log(stream, line)
    }
    const parse = (line: string, isCut: boolean): void => {
      const wasBroken = this.gadget.problem !== null
      if (!this.gadget.take(line, isCut) && !wasBroken) onBroken()
    }
    const splitter = (take: (line: string, isCut: boolean) => void): LineSplitter =>
      new LineSplitter(MAX_LINE_BYTES, (line, isCut) => take(mask.apply(line, isCut), isCut))
    this.#stdout = splitter(config.output === 'text' ? (line) => log('STDOUT', line) : parse)
    this.#stderr = splitter((line) => log('STDERR', line))
  }

  write(stream: 'STDOUT' | 'STDERR', chunk: Buffer): void {
    const splitter = stream === 'STDOUT' ? this.#stdout : this.#stderr
    splitter.write(chunk)
  }

  /** The last lines may lack a line end. */
  end(): void {
    this.#stdout.end()
    this.#stderr.end()
  }

  /** The end of its log, to be put behind an error. */
  get lastLines(): string {
    return this.#last.text
  }
}
