import { invalid, type Outcome, REFUSAL_FRAGMENT, refused } from './refusal.ts'

/** Kinds that the user may cancel or delete by themselves, and how the mutations call them. */
const CANCELLABLE: Readonly<Record<string, string>> = {
  INSTALLATION: 'Installation',
  EVENT: 'Event',
  JOB: 'Job',
  TASK: 'Task',
  CLUSTER_INST: 'ClusterInst',
  APP_INST: 'AppInst',
}
const DELETABLE: Readonly<Record<string, string>> = {
  INSTALLATION: 'Installation',
  EVENT: 'Event',
  TASK: 'Task',
  CLOUDLET: 'Cloudlet',
  CLUSTER_INST: 'ClusterInst',
  APP_INST: 'AppInst',
}

/** The mutation's document, its result under the alias `answer`; null when this kind has none. */
export function cancelMutation(kind: string): string | null {
  const name = CANCELLABLE[kind]
  return name ? mutation(`cancel${name}`, `Cancel${name}Input`, '... on TreeObject { id kind name phase }') : null
}

/** The same for deletion. */
export function deleteMutation(kind: string): string | null {
  const name = DELETABLE[kind]
  return name ? mutation(`delete${name}`, `Delete${name}Input`, '') : null
}

const mutation = (field: string, input: string, selection: string): string =>
  `mutation Ask($input: ${input}!) { answer: ${field}(input: $input) { __typename ${selection} ...Refusal } }\n${REFUSAL_FRAGMENT}`

export interface DeleteFlags {
  readonly force?: boolean
  readonly withoutUninstall?: boolean
  readonly cascade?: boolean
}

const FLAGS: Readonly<Record<string, readonly (keyof DeleteFlags)[]>> = {
  INSTALLATION: ['force', 'withoutUninstall'],
  CLOUDLET: ['cascade'],
  CLUSTER_INST: ['cascade'],
}

/** The input of a deletion; a flag that means nothing for this kind is refused rather than ignored. */
export function deleteInput(kind: string, id: string, flags: DeleteFlags): Outcome<Record<string, unknown>> {
  const given = (['force', 'withoutUninstall', 'cascade'] as const).filter((flag) => flags[flag] === true)
  const foreign = given.find((flag) => !FLAGS[kind]?.includes(flag))
  if (foreign) return refused(invalid(`${foreign} means nothing for ${kind}.`))
  return { ok: true, value: { id, ...Object.fromEntries(given.map((flag) => [flag, true])) } }
}
