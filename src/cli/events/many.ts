import { checkWords } from '../objects/check-words.ts'
import { REFUSAL_FRAGMENT } from '../objects/refusal.ts'
import type { Session } from '../session.ts'
import { ask } from '../terminal/ask.ts'
import { EXIT, type ExitCode } from '../terminal/exit.ts'
import { confirm } from '../terminal/terminal-input.ts'
import { plain } from '../terminal/text.ts'
import { type EventFilter, findEvents } from './list.ts'

export interface ManyFilter extends EventFilter {
  readonly project: string
  readonly phase: readonly string[]
}
export interface ManyOptions extends ManyFilter {
  readonly yes?: boolean
  readonly reason?: string
}
interface Many {
  readonly document: string
  readonly verb: string
  readonly done: string
}

const mutation = (name: string, input: string, answer: string): string => `mutation Many($input: ${input}!) {
  answer: ${name}(input: $input) { __typename ... on ${answer} { count } ...Refusal }
}\n${REFUSAL_FRAGMENT}`

export const CANCEL_MANY: Many = {
  ...{ verb: 'Cancel', done: 'cancelled' },
  document: mutation('cancelEvents', 'CancelEventsInput', 'CanceledEvents'),
}
export const DELETE_MANY: Many = {
  ...{ verb: 'Delete', done: 'deleted' },
  document: mutation('deleteEvents', 'DeleteEventsInput', 'DeletedEvents'),
}

/** More are not counted before the user is asked. */
const MOST_COUNTED = 1_000

/** Ends many events; on a terminal only after the user has said yes. */
export async function changeMany(session: Session, many: Many, options: ManyOptions): Promise<ExitCode> {
  const wrong = await checkWords(session, { phases: options.phase })
  if (wrong) return session.refuse(wrong)
  if (options.yes !== true && session.io.stdin.isTTY === true) {
    if (!(await confirm(session.io, await questionOf(session, many, options)))) {
      session.say(`Nothing was ${many.done}.`)
      return EXIT.interrupted
    }
  }
  const outcome = await ask<{ readonly count: number }>(session, many.document, inputOf(options))
  if (!outcome.ok) return session.refuse(outcome.refusal)
  const { count } = outcome.value
  session.emit({ count })
  session.say(`${count} ${count === 1 ? 'event' : 'events'} ${many.done}`)
  return EXIT.ok
}

const inputOf = ({ project, phase, source, type, qualifier, label, reason }: ManyOptions): object => ({
  ...{ project, phases: phase },
  ...(source === undefined ? {} : { source }),
  ...(type === undefined ? {} : { type }),
  ...(qualifier === undefined ? {} : { qualifiers: qualifier }),
  ...(label === undefined ? {} : { labels: label }),
  ...(reason === undefined ? {} : { reason }),
})

async function questionOf(session: Session, { verb }: Many, filter: ManyFilter): Promise<string> {
  const { events, totalCount } = await findEvents(session, filter, MOST_COUNTED)
  const count = totalCount ?? `more than ${events.length}`
  return plain(`${verb} ${count} ${count === 1 ? 'event' : 'events'} of project ${filter.project}?`)
}
