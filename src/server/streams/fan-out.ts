import {
  type ExecutionResult,
  executeSubscriptionEvent,
  type GraphQLError,
  type ValidatedSubscriptionArgs,
} from 'graphql'
import type { Ambient, Log } from '../../core/ports.ts'
import { forget, type GraphQLContext } from '../../graphql/context.ts'
import { failureOf, type StreamEvent } from '../../graphql/event-stream.ts'
import type { LogStream } from '../../graphql/log-stream.ts'
import type { OpenStreams } from '../../graphql/open-streams.ts'
import { describe } from './describe.ts'
import type { Outlet } from './outlet.ts'
import { Payloads } from './payloads.ts'
import { type Asked, sharingKey } from './sharing.ts'
import { Subscriber } from './subscriber.ts'
import { type LogEvent, Topic } from './topic.ts'

export interface FanOutParts {
  readonly log: Log
  readonly open: OpenStreams
  readonly ambient: Ambient
  /** What of an error is for the caller. */
  readonly mask: (error: unknown) => GraphQLError
}

export interface Joining {
  readonly asked: Asked
  readonly args: ValidatedSubscriptionArgs
  readonly stream: LogStream<LogEvent>
  readonly outlet: Outlet
  /** Of the operation on its socket. */
  readonly id: string
}

/** How the gateway does, since its start. Seconds from commit to socket go to `onDelay`. */
export interface FanOutStats {
  readonly executions: number
  readonly messages: number
  readonly bytes: number
  readonly topics: number
}

/** All subscriptions to the log on this gateway; those that ask the same are one topic. */
export class FanOut {
  readonly #parts: FanOutParts
  readonly #topics = new Map<string, { readonly topic: Topic; readonly members: Set<Subscriber> }>()
  readonly #payloads = new Payloads()
  #created = 0
  #executions = 0
  /** Of those that have ended. */
  readonly #past = { messages: 0, bytes: 0 }
  onDelay: (seconds: number) => void = () => undefined

  constructor(parts: FanOutParts) {
    this.#parts = parts
  }

  get stats(): FanOutStats {
    let { messages, bytes } = this.#past
    for (const { members } of this.#topics.values()) {
      for (const { counts } of members) {
        messages += counts.messages
        bytes += counts.bytes
      }
    }
    return { executions: this.#executions, messages, bytes, topics: this.#topics.size }
  }

  /** The place of "from now on" is taken at once. */
  join({ asked, args, stream, outlet, id }: Joining): Subscriber {
    const key = sharingKey(asked)
    const shared = this.#topics.get(key) ?? { topic: this.#createTopic(args, stream), members: new Set<Subscriber>() }
    this.#topics.set(key, shared)
    const { topic, members } = shared
    topic.enter()
    const place = this.#parts.log.place(stream.source.after)
    // Looked at when it starts; until then a failure is nobody's.
    place.catch(() => undefined)
    const subscriber = new Subscriber({
      topic,
      outlet,
      id,
      place,
      failed: (error) => topic.failurePayload({ failure: failureOf(error, args.contextValue as GraphQLContext) }),
      closed: () => {
        close()
        members.delete(subscriber)
        this.#past.messages += subscriber.counts.messages
        this.#past.bytes += subscriber.counts.bytes
        if (topic.leave(subscriber)) this.#topics.delete(key)
      },
    })
    members.add(subscriber)
    const close = this.#watch(subscriber, asked, args, { members, outlet })
    return subscriber
  }

  #createTopic(args: ValidatedSubscriptionArgs, { source }: LogStream<LogEvent>): Topic {
    const { log, ambient } = this.#parts
    this.#created += 1
    return new Topic(String(this.#created), source, {
      log,
      payloads: this.#payloads,
      render: (event) => this.#render(args, event),
      refresh: () => forget(args.contextValue as GraphQLContext),
      sent: ({ at }) => this.onDelay((ambient.now().getTime() - at.getTime()) / 1_000),
    })
  }

  async #render(args: ValidatedSubscriptionArgs, event: StreamEvent<LogEvent>): Promise<Buffer> {
    this.#executions += 1
    const result: ExecutionResult = await executeSubscriptionEvent({ ...args, rootValue: event })
    const told = result.errors ? { ...result, errors: result.errors.map(this.#parts.mask) } : result
    return Buffer.from(JSON.stringify(told))
  }

  #watch(
    subscriber: Subscriber,
    asked: Asked,
    args: ValidatedSubscriptionArgs,
    { members, outlet }: { readonly members: ReadonlySet<Subscriber>; readonly outlet: Outlet },
  ): () => void {
    const { open, ambient } = this.#parts
    const openedAt = ambient.now()
    return open.opened(() => ({
      ...describe(asked, args),
      openedAt,
      state: subscriber.state === 'ENDED' ? 'PAUSED' : subscriber.state,
      sharedBy: members.size,
      sequence: subscriber.sequence,
      bufferedBytes: outlet.waiting,
      ...subscriber.counts,
    }))
  }
}
