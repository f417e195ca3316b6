/** Shorter secrets would mask half of all output. */
const MIN_LENGTH = 4
const MASKED = '***'

const literally = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')

/** Masks secrets in output: whole ones, and each line of a secret with several lines. */
export class Mask {
  readonly #parts: readonly string[]
  readonly #pattern: RegExp | null

  constructor(secrets: readonly string[]) {
    const parts = new Set(secrets.flatMap((secret) => [secret, ...secret.split(/\r?\n/)]).map((part) => part.trim()))
    // Longest first: one secret may begin with another.
    this.#parts = [...parts].filter((part) => part.length >= MIN_LENGTH).sort((a, b) => b.length - a.length)
    this.#pattern = this.#parts.length > 0 ? new RegExp(this.#parts.map(literally).join('|'), 'g') : null
  }

  /** `isCut`: the line is truncated, so that it may end within a secret. */
  apply(line: string, isCut: boolean): string {
    if (!this.#pattern) return line
    const masked = line.replace(this.#pattern, MASKED)
    return isCut ? this.#withoutBeginning(masked) : masked
  }

  #withoutBeginning(line: string): string {
    for (const part of this.#parts) {
      for (let length = part.length - 1; length >= MIN_LENGTH; length--) {
        if (line.endsWith(part.slice(0, length))) return `${line.slice(0, -length)}${MASKED}`
      }
    }
    return line
  }
}
