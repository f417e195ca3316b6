/** Wake-ups between processes: never the truth, only the fast path. */
export interface Signal {
  publish(channel: string, message: string): void
  /** Resolves once messages arrive. Never more than one handler call at a time per subscription. */
  subscribe(channel: string, handler: (message: string) => void): Promise<{ close(): Promise<void> }>
  /** False: no messages of other processes arrive, so poll more often. */
  readonly connected: boolean
  close(): Promise<void>
}
