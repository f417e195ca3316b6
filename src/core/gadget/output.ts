import {
  ALLOWED,
  type GadgetLine,
  type GadgetMode,
  MAX_EXPORTS,
  MAX_LINES,
  MAX_LOCKS,
  PROTOCOL,
  parseGadgetLine,
} from './protocol.ts'

export interface GadgetLock {
  readonly resource: string
  readonly mode: 'SHARED' | 'EXCLUSIVE'
}
export interface GadgetProgress {
  readonly step: string | null
  readonly value: number | null
  readonly total: number | null
  readonly unit: string | null
}
export interface OutputEvents {
  onStep?: ((text: string) => void) | undefined
  onProgress?: ((progress: GadgetProgress) => void) | undefined
}

const NO_PROGRESS: GadgetProgress = { step: null, value: null, total: null, unit: null }

/** Parses a gadget's standard output line by line and keeps the first problem. */
export class GadgetOutput {
  readonly exports: Record<string, unknown> = Object.create(null)
  readonly #mode: GadgetMode
  readonly #events: OutputEvents
  readonly #locks = new Map<string, GadgetLock>()
  #progress = NO_PROGRESS
  #lines = 0
  #problem: string | null = null
  #error: string | null = null

  constructor(mode: GadgetMode, events: OutputEvents) {
    this.#mode = mode
    this.#events = events
  }

  /** The violation of the protocol, after which the gadget is stopped. */
  get problem(): string | null {
    return this.#problem
  }
  /** The message of the gadget's own `Error` line. */
  get error(): string | null {
    return this.#error
  }
  get locks(): readonly GadgetLock[] {
    return [...this.#locks.values()]
  }

  /** False: the output violates the protocol, and further lines are ignored. */
  take(line: string, tooLong: boolean): boolean {
    if (this.#problem !== null) return false
    this.#lines += 1
    this.#problem = this.#judge(tooLong ? { type: 'malformed', problem: 'it is too long' } : parseGadgetLine(line))
    return this.#problem === null
  }

  #judge(line: GadgetLine): string | null {
    if (this.#lines > MAX_LINES) return `More than ${MAX_LINES} lines.`
    if (line.type === 'malformed') return `Line ${this.#lines}: ${line.problem}.`
    if (!ALLOWED[this.#mode].has(line.type)) {
      return `Line ${this.#lines}: ${line.type.toUpperCase()} may not come in the answer to ${this.#mode}.`
    }
    const problem = this.#apply(line)
    return problem === null ? null : `Line ${this.#lines}: ${problem}.`
  }

  #apply(line: Exclude<GadgetLine, { type: 'malformed' }>): string | null {
    switch (line.type) {
      case 'step':
        this.#events.onStep?.(line.text)
        return this.#tell({ ...NO_PROGRESS, step: line.text })
      case 'proginfo':
        return this.#tell({ ...this.#progress, total: line.total, unit: line.unit, value: 0 })
      case 'prog':
        if (this.#progress.total === null) return 'PROG before PROGINFO'
        return this.#tell({ ...this.#progress, value: line.done })
      case 'lock':
        return this.#addLock(line)
      case 'export':
        this.exports[line.name] = line.value
        return Object.keys(this.exports).length > MAX_EXPORTS ? `more than ${MAX_EXPORTS} exports` : null
      case 'protocol':
        return line.version === PROTOCOL ? null : `the protocol must be ${PROTOCOL}`
      case 'error':
        this.#error ??= line.message
        return null
      default:
        return line satisfies never
    }
  }

  #tell(progress: GadgetProgress): null {
    this.#progress = progress
    this.#events.onProgress?.(progress)
    return null
  }

  /** The stronger mode wins if a lock is declared twice. */
  #addLock({ resource, mode }: GadgetLock): string | null {
    const known = this.#locks.get(resource)
    if (known?.mode !== 'EXCLUSIVE') this.#locks.set(resource, { resource, mode })
    return this.#locks.size > MAX_LOCKS ? `more than ${MAX_LOCKS} locks` : null
  }
}
