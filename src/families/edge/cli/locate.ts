import type { Located } from '../../../cli/objects/address.ts'
import { locateKind, type ObjectArgument, type ProjectOption } from '../../../cli/objects/object-command.ts'
import type { Session } from '../../../cli/session.ts'
import { invalid, type Outcome, refused } from '../../../client-model/index.ts'
import { type EdgeKind, type InstanceKind, kinds, PARENTS } from '../rules/kinds.ts'

const EXAMPLES = {
  CLOUDLET: 'edge1',
  CLUSTER_INST: 'edge1/cluster1',
  APP_INST: 'edge1/cluster1/app1',
} as const satisfies Readonly<Record<EdgeKind, string>>

/** The argument of commands on an object of the kind. */
export const argumentOf = (kind: EdgeKind): ObjectArgument => ({
  ...{ kind, name: kinds[kind].noun, root: 'cloudlet' },
  help: `id, ${placeHelp(kind)}`,
})

export const placeHelp = (kind: EdgeKind): string => `${EXAMPLES[kind]}, or ops/${EXAMPLES[kind]}`

/** The name and the parent of an instance to create. */
export interface Place<T> {
  readonly name: string
  readonly parent: T
}

/** `edge1/cluster1`, or the cloudlet's id and the new name. */
export async function locatePlace(
  session: Session,
  text: string,
  kind: InstanceKind,
  address: ProjectOption,
): Promise<Outcome<Place<Located>>> {
  const names = namesOf(text)
  const name = names.at(-1)
  if (name === undefined || names.length < 2)
    return refused(invalid(`${text} does not name its ${kinds[PARENTS[kind]].noun}: expected ${EXAMPLES[kind]}.`))
  const parent = await locateKind(session, names.slice(0, -1).join('/'), PARENTS[kind], address)
  return parent.ok ? { ok: true, value: { name, parent: parent.value } } : parent
}

/** `edge1` in the project, or `ops/edge1`. */
export function placeOfCloudlet(text: string, { project }: ProjectOption): Outcome<Place<string>> {
  const names = namesOf(text)
  const [first, second] = names
  if (first !== undefined && names.length === 1)
    return { ok: true, value: { name: first, parent: project ?? 'default' } }
  if (first !== undefined && second !== undefined && names.length === 2 && project === undefined)
    return { ok: true, value: { name: second, parent: first } }
  return refused(invalid(`${text} names no cloudlet: expected ${EXAMPLES.CLOUDLET}.`))
}

const namesOf = (text: string): readonly string[] => text.split('/').filter((name) => name !== '')
