import { type Located, locate } from '../objects/address.ts'
import { invalid, type Outcome, refused } from '../objects/refusal.ts'
import type { Session } from '../session.ts'
import { plain, words } from '../terminal/text.ts'
import { type EdgeKind, EXAMPLES, type InstanceKind, NOUNS, PARENTS } from './kinds.ts'

export interface EdgeAddress {
  readonly project?: string
}

/** The object that is meant by an id, `edge1/cluster1` in the project, or `ops/edge1/cluster1`; what is of another kind is refused. */
export async function locateEdge(
  session: Session,
  text: string,
  wanted: EdgeKind,
  { project }: EdgeAddress,
): Promise<Outcome<Located>> {
  const located = await locate(session, text, { kind: wanted, ...(project === undefined ? {} : { project }) })
  if (!located.ok || located.value.kind === wanted) return located
  const { id, kind, name, root } = located.value
  const hint = root.id === id ? '' : ` It belongs to ${plain(root.name)}.`
  return refused(invalid(`${text} is the ${words(kind)} ${plain(name)}, not a ${words(wanted)}.${hint}`))
}

/** What is to be created: its name, and where it goes. */
export interface Place<T> {
  readonly name: string
  readonly parent: T
}

/** `edge1/cluster1`, or the cloudlet's id and the new name. */
export async function locatePlace(
  session: Session,
  text: string,
  kind: InstanceKind,
  address: EdgeAddress,
): Promise<Outcome<Place<Located>>> {
  const names = namesOf(text)
  const name = names.at(-1)
  if (name === undefined || names.length < 2)
    return refused(
      invalid(`${text} does not say which ${NOUNS[PARENTS[kind]]} it goes on: expected ${EXAMPLES[kind]}.`),
    )
  const parent = await locateEdge(session, names.slice(0, -1).join('/'), PARENTS[kind], address)
  return parent.ok ? { ok: true, value: { name, parent: parent.value } } : parent
}

/** `edge1` in the project, or `ops/edge1`. */
export function placeOfCloudlet(text: string, { project }: EdgeAddress): Outcome<Place<string>> {
  const names = namesOf(text)
  const [first, second] = names
  if (first !== undefined && names.length === 1)
    return { ok: true, value: { name: first, parent: project ?? 'default' } }
  if (first !== undefined && second !== undefined && names.length === 2 && project === undefined)
    return { ok: true, value: { name: second, parent: first } }
  return refused(invalid(`${text} names no cloudlet: expected ${EXAMPLES.CLOUDLET}.`))
}

const namesOf = (text: string): readonly string[] => text.split('/').filter((name) => name !== '')
