import { type Located, locate } from '../objects/address.ts'
import { invalid, type Outcome, refused } from '../objects/refusal.ts'
import type { Session } from '../session.ts'
import { plain, words } from '../terminal/text.ts'

export interface EventAddress {
  readonly project?: string
}

/** The event that is meant by an id, `event-17` in the project, or `web/event-17`; what is no event is refused. */
export async function locateEvent(
  session: Session,
  text: string,
  { project }: EventAddress,
): Promise<Outcome<Located>> {
  const located = await locate(session, text, { kind: 'EVENT', ...(project === undefined ? {} : { project }) })
  if (!located.ok || located.value.kind === 'EVENT') return located
  const { kind, name, root } = located.value
  const hint = kind === 'WORKER' || kind === 'JOB' ? ` It belongs to ${root.name}.` : ''
  return refused(invalid(`${text} is the ${words(kind)} ${plain(name)}, not an event.${hint}`))
}
