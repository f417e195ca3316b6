import { checkWords } from '../../../../cli/objects/check-words.ts'
import type { Session } from '../../../../cli/session.ts'
import { ask } from '../../../../cli/terminal/ask.ts'
import { EXIT, type ExitCode } from '../../../../cli/terminal/exit.ts'
import { isConfirmed } from '../../../../cli/terminal/terminal-input.ts'
import { type Outcome, REFUSAL_FRAGMENT } from '../../../../client-model/index.ts'
import type { Phase } from '../../../../core/vocabulary.ts'
import { gql } from '../../../../documents/gql.ts'
import { countEvents, type EventOptions } from './list.ts'

export interface ManyFilter extends EventOptions {
  readonly project: string
  readonly phase: readonly Phase[]
}
export interface ManyOptions extends ManyFilter {
  readonly yes?: boolean
  readonly reason?: string
}
const CANCEL = gql(`mutation CancelEvents($input: CancelEventsInput!) {
  answer: cancelEvents(input: $input) { __typename ... on CanceledEvents { count } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)
const DELETE = gql(`mutation DeleteEvents($input: DeleteEventsInput!) {
  answer: deleteEvents(input: $input) { __typename ... on DeletedEvents { count } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)

interface Many {
  readonly verb: string
  readonly done: string
  readonly send: (session: Session, options: ManyOptions) => Promise<Outcome<{ readonly count: number }>>
}

export const CANCEL_MANY: Many = {
  verb: 'Cancel',
  done: 'cancelled',
  send: (session, { reason, ...filter }) =>
    ask(session, CANCEL, { ...inputOf(filter), ...(reason === undefined ? {} : { reason }) }),
}
export const DELETE_MANY: Many = {
  verb: 'Delete',
  done: 'deleted',
  send: (session, filter) => ask(session, DELETE, inputOf(filter)),
}

/** Cancels or deletes many events; on a terminal after a confirmation. */
export async function changeMany(session: Session, many: Many, options: ManyOptions): Promise<ExitCode> {
  const wrong = await checkWords(session, { phases: options.phase })
  if (wrong) return session.refuse(wrong)
  if (!(await isConfirmed(session.io, options, () => questionOf(session, many, options)))) {
    session.say(`Nothing was ${many.done}.`)
    return EXIT.interrupted
  }
  const outcome = await many.send(session, options)
  if (!outcome.ok) return session.refuse(outcome.refusal)
  const { count } = outcome.value
  session.emit({ count })
  session.say(`${count} ${count === 1 ? 'event' : 'events'} ${many.done}`)
  return EXIT.ok
}

const inputOf = ({ project, phase, source, type, qualifier, label }: ManyFilter) => ({
  ...{ project, phases: phase },
  ...(source === undefined ? {} : { source }),
  ...(type === undefined ? {} : { type }),
  ...(qualifier === undefined ? {} : { qualifiers: qualifier }),
  ...(label === undefined ? {} : { labels: label }),
})

async function questionOf(session: Session, { verb }: Many, filter: ManyFilter): Promise<string> {
  const count = await countEvents(session, filter)
  return `${verb} ${count} ${count === 1 ? 'event' : 'events'} of project ${filter.project}?`
}
