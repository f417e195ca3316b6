import {
  type ExecutionResult,
  executeSubscriptionEvent,
  type GraphQLError,
  type ValidatedSubscriptionArgs,
} from 'graphql'
import type { Log } from '../../core/ports/log.ts'
import type { System } from '../../core/ports/system.ts'
import { contextOfEvent, forget, type GraphQLContext, readLive } from '../../graphql/context.ts'
import { type EventStream, failureOf, type StreamEvent } from '../../graphql/log/event-stream.ts'
import type { LogStream } from '../../graphql/log/log-stream.ts'
import type { OpenStream, OpenStreams } from '../../graphql/log/open-streams.ts'
import { ended } from '../../graphql/schema/answer-budget.ts'
import { withoutDeleted } from '../../graphql/schema/deleted-meanwhile.ts'
import type { Account, LimitExceeded } from '../limits/accounts.ts'
import type { Bounds } from '../limits/bounds.ts'
import type { ClientSink } from './client-sink.ts'
import { type EncodedPayload, PayloadCache } from './payload-cache.ts'
import { Subscriber } from './subscriber.ts'
import { describeRequest, type SubscriptionRequest, sharingKey } from './subscription-request.ts'
import { type LogEvent, Topic } from './topic.ts'
import { UnsharedSubscription } from './unshared-subscription.ts'

export interface FanOutParts extends Pick<Bounds, 'limits' | 'refusals' | 'turns'> {
  readonly log: Log
  readonly open: OpenStreams
  readonly system: System
  /** The part of an error that the caller may see. */
  readonly mask: (error: unknown) => GraphQLError
}

interface Subscribed {
  readonly request: SubscriptionRequest
  readonly args: ValidatedSubscriptionArgs
  readonly sink: ClientSink
  /** Id of the operation on its socket. */
  readonly id: string
}
export interface Joining extends Subscribed {
  readonly stream: LogStream<LogEvent>
}
export interface Running extends Subscribed {
  readonly source: EventStream<unknown>
}

/** Subscriptions with the same key. */
interface Group<Member> {
  readonly name: string
  readonly members: Set<Member>
}
type Counts = Pick<OpenStream, 'messages' | 'bytes' | 'reads' | 'pauses'>

/** Counters since the start of the process. */
export interface FanOutStats {
  readonly executions: number
  readonly messages: number
  readonly bytes: number
  readonly topics: number
}

/** All subscriptions of this process. Equal subscriptions to the log are one topic; other equal ones share executions. */
export class FanOut {
  readonly #parts: FanOutParts
  readonly #topics = new Map<string, Group<Subscriber> & { readonly topic: Topic }>()
  readonly #others = new Map<string, Group<UnsharedSubscription>>()
  readonly #payloads = new PayloadCache()
  #created = 0
  #executions = 0
  /** Counts of ended subscriptions. */
  readonly #past = { messages: 0, bytes: 0 }
  /** Called with the seconds from commit to socket. */
  onDelay: (seconds: number) => void = () => undefined

  constructor(parts: FanOutParts) {
    this.#parts = parts
  }

  get stats(): FanOutStats {
    const sum = { ...this.#past }
    for (const { members } of [...this.#topics.values(), ...this.#others.values()]) {
      for (const { counts } of members) add(sum, counts)
    }
    return { executions: this.#executions, topics: this.#topics.size, ...sum }
  }

  /** Subscribes to the log. Without a cursor, "from now on" means the moment of this call. */
  join({ request, args, stream, sink, id }: Joining): Subscriber | LimitExceeded {
    const key = sharingKey(request)
    const { account } = sink
    const excess = this.#follow(account, stream.place, key)
    if (excess) return excess
    const group = this.#topics.get(key) ?? this.#createTopic(args, stream, account)
    this.#topics.set(key, group)
    const { topic, members } = group
    topic.enter(account)
    const cursor = this.#parts.log.resolve(stream.source.after)
    // Awaited when the subscriber starts; until then a rejection is not unhandled.
    cursor.catch(() => undefined)
    const subscriber: Subscriber = new Subscriber({
      topic,
      sink,
      id,
      cursor,
      failed: async (error) =>
        await topic.failurePayload({ failure: await failureOf(error, args.contextValue as GraphQLContext) }),
      closed: () => {
        closeEntry()
        members.delete(subscriber)
        account.subscriptions.close(stream.place, key)
        add(this.#past, subscriber.counts)
        if (topic.leave(subscriber)) this.#topics.delete(key)
      },
    })
    members.add(subscriber)
    const closeEntry = this.#list({ request, args, sink }, () => ({
      state: subscriber.state === 'ENDED' ? 'PAUSED' : subscriber.state,
      sequence: subscriber.sequence,
      sharedBy: members.size,
      ...subscriber.counts,
    }))
    return subscriber
  }

  /** Subscribes to anything else. */
  run({ request, args, source, sink, id }: Running): UnsharedSubscription | LimitExceeded {
    const key = sharingKey(request)
    const { account } = sink
    const excess = this.#follow(account, source.place, key)
    if (excess) return excess
    const group = this.#others.get(key) ?? { name: this.#newName(), members: new Set<UnsharedSubscription>() }
    this.#others.set(key, group)
    const { name, members } = group
    const stream: UnsharedSubscription = new UnsharedSubscription({
      source,
      sink,
      id,
      render: (event) => {
        const make = () => this.#render(args, event)
        if (members.size === 1 || !('key' in event) || event.key === undefined) return make()
        return this.#payloads.get(`${name} ${event.key}`, make)
      },
      closed: () => {
        closeEntry()
        members.delete(stream)
        account.subscriptions.close(source.place, key)
        add(this.#past, stream.counts)
        if (members.size === 0) this.#others.delete(key)
      },
    })
    members.add(stream)
    const closeEntry = this.#list({ request, args, sink }, () => ({
      state: sink.isReady ? 'LIVE' : 'PAUSED',
      sequence: null,
      sharedBy: members.size,
      ...stream.counts,
    }))
    return stream
  }

  #follow(account: Account, place: string, key: string): LimitExceeded | null {
    const { limits, refusals } = this.#parts
    const excess = account.follow(place, key, limits.differentSubscriptionsPerPrincipal)
    if (excess) refusals.count(excess.code, excess.share)
    return excess
  }

  #newName(): string {
    this.#created += 1
    return String(this.#created)
  }

  #createTopic(args: ValidatedSubscriptionArgs, { source }: LogStream<LogEvent>, creator: Account) {
    const { log, system, turns } = this.#parts
    const name = this.#newName()
    const topic = new Topic(name, source, {
      log,
      payloads: this.#payloads,
      render: (event) => this.#render(args, event),
      refresh: () => forget(args.contextValue as GraphQLContext),
      turn: (account) => turns.next(account),
      endTurn: () => turns.endPiece(),
      sent: ({ at }) => this.onDelay(Math.max(0, system.now().getTime() - at.getTime()) / 1_000),
    })
    readLive(args.contextValue as GraphQLContext, () => {
      const account = topic.account ?? creator
      return { reads: account.reads, turn: () => turns.next(account) }
    })
    return { name, topic, members: new Set<Subscriber>() }
  }

  /** Never rejects: errors become part of the payload. */
  #render(args: ValidatedSubscriptionArgs, event: StreamEvent<unknown>): EncodedPayload {
    this.#executions += 1
    const { mask } = this.#parts
    const contextValue = contextOfEvent(args.contextValue as GraphQLContext)
    const serialise = (executed: ExecutionResult): Buffer => {
      const result = contextValue.answer.isExceeded ? ended(executed) : withoutDeleted(executed)
      return Buffer.from(JSON.stringify(result.errors ? { ...result, errors: result.errors.map(mask) } : result))
    }
    const failed = (error: unknown): Buffer => Buffer.from(JSON.stringify({ errors: [mask(error)] }))
    try {
      const result = executeSubscriptionEvent({ ...args, contextValue, rootValue: event })
      return 'then' in result ? result.then(serialise).catch(failed) : serialise(result)
    } catch (error) {
      return failed(error)
    }
  }

  /** Lists an open stream, until the returned function is called. */
  #list(
    { request, args, sink }: Pick<Subscribed, 'request' | 'args' | 'sink'>,
    read: () => Pick<OpenStream, 'state' | 'sequence' | 'sharedBy'> & Counts,
  ): () => void {
    const openedAt = this.#parts.system.now()
    const description = describeRequest(request, args)
    return this.#parts.open.opened(() => ({ ...description, openedAt, bufferedBytes: sink.waiting, ...read() }))
  }
}

function add(sum: { messages: number; bytes: number }, { messages, bytes }: Counts): void {
  sum.messages += messages
  sum.bytes += bytes
}
