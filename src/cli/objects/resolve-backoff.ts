import { REFUSAL_FRAGMENT } from '../../client-model/index.ts'
import { gql } from '../../documents/gql.ts'
import type { Session } from '../session.ts'
import { ask } from '../terminal/ask.ts'
import { EXIT, type ExitCode } from '../terminal/exit.ts'
import type { Located } from './address.ts'

const RETRY_NOW = gql(`mutation RetryNow($input: RetryNowInput!) {
  answer: retryNow(input: $input) { __typename ... on ResolvedBackoff { object { id kind name phase } } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)
const GIVE_UP = gql(`mutation GiveUpRetries($input: GiveUpRetriesInput!) {
  answer: giveUpRetries(input: $input) { __typename ... on ResolvedBackoff { object { id kind name phase } } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)

/** `retry --now`, `retry --give-up`: decides about an object that waits for its next attempt. */
export async function resolveBackoff(session: Session, { id, name }: Located, giveUp: boolean): Promise<ExitCode> {
  const outcome = await (giveUp ? ask(session, GIVE_UP, { id }) : ask(session, RETRY_NOW, { id }))
  if (!outcome.ok) return session.refuse(outcome.refusal)
  const { object } = outcome.value
  session.emit(object)
  const done = giveUp ? 'is not attempted again' : 'is attempted again'
  session.say(`${name} ${done}, now ${object?.phase ?? 'gone'}`)
  return EXIT.ok
}
