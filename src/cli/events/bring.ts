import { type Outcome, REFUSAL_FRAGMENT } from '../objects/refusal.ts'
import type { Session } from '../session.ts'
import { ask } from '../terminal/ask.ts'
import { EXIT, type ExitCode } from '../terminal/exit.ts'
import { BRIEF_EVENT, type BriefEvent, pathOf } from './brief.ts'
import { followEvents } from './follow.ts'

/** What brings new events: one mutation each. */

export interface BringOptions {
  readonly key?: string
  readonly follow?: boolean
}
type Created = { readonly events: readonly BriefEvent[] }

const mutation = (name: string, selection: string): string =>
  `mutation Bring($input: ${name.charAt(0).toUpperCase()}${name.slice(1)}Input!) {
  answer: ${name}(input: $input) { __typename ${selection} ...Refusal }
}\n${BRIEF_EVENT}\n${REFUSAL_FRAGMENT}`
const SEVERAL = '... on CreatedEvents { events { ...BriefEvent } }'
const CREATE = mutation('createEvent', SEVERAL)
const CLONE = mutation('cloneEvent', SEVERAL)
const RETRY = mutation('retryEvent', '... on Event { ...BriefEvent }')

export async function createEvent(session: Session, input: object, options: BringOptions): Promise<ExitCode> {
  return await show(session, await ask<Created>(session, CREATE, withKey(input, options)), options)
}

export async function cloneEvent(session: Session, id: string, options: BringOptions): Promise<ExitCode> {
  return await show(session, await ask<Created>(session, CLONE, withKey({ id }, options)), options)
}

export async function retryEvent(session: Session, id: string, options: BringOptions): Promise<ExitCode> {
  const outcome = await ask<BriefEvent>(session, RETRY, withKey({ id }, options))
  return await show(session, outcome.ok ? { ok: true, value: { events: [outcome.value] } } : outcome, options)
}

const withKey = (input: object, { key }: BringOptions): object => ({
  ...input,
  ...(key === undefined ? {} : { idempotencyKey: key }),
})

async function show(session: Session, outcome: Outcome<Created>, { follow }: BringOptions): Promise<ExitCode> {
  if (!outcome.ok) return session.refuse(outcome.refusal)
  const events = outcome.value.events.map(({ id, name, phase, source, type, project }) => ({
    ...{ id, name, phase, source, type, project },
  }))
  session.emit({ events })
  for (const event of events)
    session.say(`${pathOf(event)} created, now ${event.phase}  ${session.paint('dim', event.id)}`)
  if (events.length === 0) session.say('No project has subscribed to it: there is nothing to do.')
  return follow ? await followEvents(session, events) : EXIT.ok
}
