import type { Session } from '../../../../cli/session.ts'
import { ask } from '../../../../cli/terminal/ask.ts'
import { EXIT, type ExitCode } from '../../../../cli/terminal/exit.ts'
import { type Outcome, REFUSAL_FRAGMENT } from '../../../../client-model/index.ts'
import { gql } from '../../../../documents/gql.ts'
import type { VariablesOf } from '../../../../documents/typed-document.ts'
import { BRIEF_EVENT, type BriefEvent, pathOf } from './brief.ts'
import { followEvents } from './follow.ts'

/** The mutations that create events. */

export interface NewEventOptions {
  readonly key?: string
  readonly follow?: boolean
}
const SEVERAL = `{ __typename ... on CreatedEvents { events { ...BriefEvent } } ...Refusal }
}\n${BRIEF_EVENT}\n${REFUSAL_FRAGMENT}` as const
const CREATE = gql(`mutation CreateEvent($input: CreateEventInput!) {
  answer: createEvent(input: $input) ${SEVERAL}`)
const CLONE = gql(`mutation CloneEvent($input: CloneEventInput!) {
  answer: cloneEvent(input: $input) ${SEVERAL}`)
const RETRY = gql(`mutation RetryEvent($input: RetryEventInput!) {
  answer: retryEvent(input: $input) { __typename ... on Event { ...BriefEvent } ...Refusal }
}\n${BRIEF_EVENT}\n${REFUSAL_FRAGMENT}`)

type NewEvent = Omit<VariablesOf<typeof CREATE>['input'], 'idempotencyKey'>

export async function createEvent(session: Session, input: NewEvent, options: NewEventOptions): Promise<ExitCode> {
  return await show(session, await ask(session, CREATE, withKey(input, options)), options)
}

export async function cloneEvent(session: Session, id: string, options: NewEventOptions): Promise<ExitCode> {
  return await show(session, await ask(session, CLONE, withKey({ id }, options)), options)
}

export async function retryEvent(session: Session, id: string, options: NewEventOptions): Promise<ExitCode> {
  const outcome = await ask(session, RETRY, withKey({ id }, options))
  return await show(session, outcome.ok ? { ok: true, value: { events: [outcome.value] } } : outcome, options)
}

const withKey = <Input extends object>(input: Input, { key }: NewEventOptions) => ({
  ...input,
  ...(key === undefined ? {} : { idempotencyKey: key }),
})

async function show(
  session: Session,
  outcome: Outcome<{ readonly events: readonly BriefEvent[] }>,
  { follow }: NewEventOptions,
): Promise<ExitCode> {
  if (!outcome.ok) return session.refuse(outcome.refusal)
  const events = outcome.value.events.map(({ id, name, phase, source, type, project }) => ({
    ...{ id, name, phase, source, type, project },
  }))
  session.emit({ events })
  for (const event of events)
    session.say(`${pathOf(event)} created, now ${event.phase}  ${session.paint('dim', event.id)}`)
  if (events.length === 0) session.say(NOBODY)
  return follow ? await followEvents(session, events) : EXIT.ok
}

const NOBODY =
  'No project has a subscription that matches its source, type, qualifiers and labels: there is nothing to do. --project NAME brings it to one, and project get NAME shows subscriptions.'
