/** Shared by all contestants of *fan-out*: the messages, and the protocol of their processes. */

export interface Message {
  readonly index: number
  readonly rootId: string
  readonly objectId: string
  readonly kind: 'DEPLOY_ITEM'
  readonly name: string
  readonly from: 'INIT' | 'PROGRESSING'
  readonly to: 'PROGRESSING' | 'SUCCEEDED'
  readonly at: Date
}
/** The fields that subscribers ask for, as peers publish them. */
export const fieldsOf = ({ index, objectId, kind, name, from, to, at }: Message) => ({
  sequence: index + 1,
  objectId,
  kind,
  name,
  from,
  to,
  at: at.toISOString(),
})

/** How a writer publishes messages through a contestant. */
export interface Publisher extends AsyncDisposable {
  /** How many it is given at most at a time. */
  readonly maxBatch: number
  /** Resolves when they are published, in order. `committed` is called with those that are committed. */
  publish(messages: readonly Message[], committed: (messages: readonly Message[]) => void): Promise<void>
}

/** Peers know two kinds of topics: everything, and one for each root that a subscriber asks for. */
export const EVERYTHING = 'all'
export const topicOf = (rootId: string | null | undefined): string => rootId ?? EVERYTHING

export const PEER_SCHEMA = /* GraphQL */ `
  scalar DateTime
  enum ObjectKind { INSTALLATION EXECUTION DEPLOY_ITEM }
  enum Phase { PENDING INIT PROGRESSING SUCCEEDED FAILED ABORTED }
  type PhaseChange {
    sequence: Int!
    objectId: ID!
    kind: ObjectKind!
    name: String!
    from: Phase
    to: Phase!
    at: DateTime!
  }
  input PhaseChangeFilter { rootId: ID }
  type Query { ok: Boolean }
  type Subscription { phaseChanges(filter: PhaseChangeFilter): PhaseChange! }
`

export interface Reading {
  /** Bytes. */
  readonly rss: number
  /** Milliseconds since the start, user and system. */
  readonly cpuMs: number
}

/** In a server's process: sends its port, and on request its resources. */
export function answerReadings(port: number): void {
  process.on('message', () => {
    const { user, system } = process.cpuUsage()
    process.send?.({ rss: process.memoryUsage.rss(), cpuMs: (user + system) / 1_000 } satisfies Reading)
  })
  process.send?.({ port })
}

export function settingOf(name: string): string {
  const value = process.env[name]
  if (!value) throw new Error(`${name} is not set`)
  return value
}
