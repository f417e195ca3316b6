/** State of the one subscription that keeps every page live. Times in milliseconds. */
export type Connection =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'live'; readonly caughtUp: CaughtUp | null }
  | { readonly kind: 'lost'; readonly since: number }
  /** Connected again: `head` is the end of the log at that time, null until it is known. */
  | { readonly kind: 'catching-up'; readonly since: number; readonly head: number | null; readonly count: number }
  | { readonly kind: 'refused'; readonly message: string }

export interface CaughtUp {
  readonly changes: number
  /** Duration of the last interruption, and its end. */
  readonly awayMs: number
  readonly at: number
}

export type ConnectionEvent =
  | { readonly kind: 'connected'; readonly at: number }
  | { readonly kind: 'lost'; readonly at: number }
  | { readonly kind: 'head'; readonly head: number; readonly cursor: number; readonly at: number }
  | { readonly kind: 'batch'; readonly count: number; readonly through: number; readonly at: number }
  | { readonly kind: 'refused'; readonly message: string }

export function nextConnection(now: Connection, event: ConnectionEvent): Connection {
  if (now.kind === 'refused') return now
  switch (event.kind) {
    case 'connected':
      if (now.kind === 'connecting') return { kind: 'live', caughtUp: null }
      return now.kind === 'lost' ? { kind: 'catching-up', since: now.since, head: null, count: 0 } : now
    case 'lost':
      if (now.kind === 'catching-up') return { kind: 'lost', since: now.since }
      return now.kind === 'live' ? { kind: 'lost', since: event.at } : now
    case 'head':
      return now.kind === 'catching-up' ? arrived({ ...now, head: event.head }, event) : now
    case 'batch':
      if (now.kind !== 'catching-up') return now
      return arrived({ ...now, count: now.count + event.count }, { cursor: event.through, at: event.at })
    case 'refused':
      return { kind: 'refused', message: event.message }
    default:
      return event satisfies never
  }
}

function arrived(
  state: Extract<Connection, { kind: 'catching-up' }>,
  { cursor, at }: { readonly cursor: number; readonly at: number },
): Connection {
  if (state.head === null || cursor < state.head) return state
  return { kind: 'live', caughtUp: { changes: state.count, awayMs: at - state.since, at } }
}
