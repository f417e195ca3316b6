/**
 * Too many requests wait for the same tree or project, or this one has waited for too long. Nothing was written, so the
 * same request may be sent again.
 */
export class Busy extends Error {
  override name = 'Busy'
  /** Requests of this process that wait for the same; null: it is not for others that this one waits. */
  readonly waiting: number | null

  /** @param subject e.g. "The tree 0190…" */
  constructor(subject: string, { waiting, waitedMs }: { readonly waiting: number | null; readonly waitedMs: number }) {
    const forMs = waitedMs < 1_000 ? '' : `, this one for ${Math.round(waitedMs / 1_000)} s`
    const others = waiting === null ? '' : `: ${waiting} ${waiting === 1 ? 'request waits' : 'requests wait'} for it`
    super(`${subject} is busy${others}${forMs}.`)
    this.waiting = waiting
  }
}

/** Milliseconds after which a caller may try again. */
export const BUSY_RETRY_MS = 1_000
