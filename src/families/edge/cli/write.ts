import type { Located } from '../../../cli/objects/address.ts'
import { follow } from '../../../cli/objects/follow.ts'
import type { ProjectOption } from '../../../cli/objects/object-command.ts'
import type { LabelArgument } from '../../../cli/options.ts'
import type { Session } from '../../../cli/session.ts'
import { ask } from '../../../cli/terminal/ask.ts'
import { EXIT, type ExitCode } from '../../../cli/terminal/exit.ts'
import type { Outcome } from '../../../client-model/index.ts'
import type { InstanceKind } from '../rules/kinds.ts'
import {
  CREATE_APP,
  CREATE_CLOUDLET,
  CREATE_CLUSTER,
  RESOLVE_UPGRADE,
  UPDATE_APP,
  UPDATE_CLUSTER,
  UPGRADE_CLOUDLET,
  type WriteAnswer,
} from './documents.ts'
import { locatePlace, placeOfCloudlet } from './locate.ts'
import { readSpec, type SpecOptions } from './spec.ts'

/** Creates and changes cloudlets and instances. Deleting and cancelling are the same for all kinds. */

export interface WaitOptions {
  readonly wait?: boolean
}
export interface CreateOptions extends ProjectOption, WaitOptions {
  readonly label?: readonly LabelArgument[]
  readonly key?: string
}
export async function createCloudlet(session: Session, text: string, options: CreateOptions): Promise<ExitCode> {
  const place = placeOfCloudlet(text, options)
  if (!place.ok) return session.refuse(place.refusal)
  const { name, parent: project } = place.value
  const input = { project, name, ...commonInput(options) }
  return await finish(session, await ask(session, CREATE_CLOUDLET, input), created, options)
}

export async function createInstance(
  session: Session,
  kind: InstanceKind,
  text: string,
  options: CreateOptions & SpecOptions,
): Promise<ExitCode> {
  const spec = await readSpec(session.io, options)
  if (!spec.ok) return session.refuse(spec.refusal)
  const place = await locatePlace(session, text, kind, options)
  if (!place.ok) return session.refuse(place.refusal)
  const { name, parent } = place.value
  const input = { name, spec: spec.value, ...commonInput(options) }
  const outcome =
    kind === 'CLUSTER_INST'
      ? await ask(session, CREATE_CLUSTER, { cloudletId: parent.id, ...input })
      : await ask(session, CREATE_APP, { clusterInstId: parent.id, ...input })
  return await finish(session, outcome, created, options)
}

const commonInput = ({ label, key }: CreateOptions) => ({
  ...(label === undefined ? {} : { labels: label }),
  ...(key === undefined ? {} : { idempotencyKey: key }),
})

export interface UpdateOptions extends SpecOptions, WaitOptions {
  readonly expectedGeneration?: number
}
/** An update without a change starts nothing on the server: then there is nothing to wait for. */
export async function updateInstance(
  session: Session,
  kind: InstanceKind,
  { id, generation: before }: Located,
  { expectedGeneration, wait, ...specOptions }: UpdateOptions,
): Promise<ExitCode> {
  const spec = await readSpec(session.io, specOptions)
  if (!spec.ok) return session.refuse(spec.refusal)
  const input = { id, spec: spec.value, ...(expectedGeneration === undefined ? {} : { expectedGeneration }) }
  const outcome =
    kind === 'CLUSTER_INST' ? await ask(session, UPDATE_CLUSTER, input) : await ask(session, UPDATE_APP, input)
  const isChanged = outcome.ok && outcome.value.generation !== before
  const tell = ({ phase, generation }: WriteAnswer): string =>
    isChanged ? `asked to update, now ${phase} (generation ${generation})` : `unchanged (generation ${generation})`
  return await finish(session, outcome, tell, { wait: wait === true && isChanged })
}

export interface UpgradeOptions extends WaitOptions {
  readonly to: string
}
export async function upgradeCloudlet(
  session: Session,
  { id }: Located,
  { to: version, wait = false }: UpgradeOptions,
): Promise<ExitCode> {
  const outcome = await ask(session, UPGRADE_CLOUDLET, { id, version })
  const tell = ({ upgradePhase }: WriteAnswer): string => `asked to upgrade to ${version}, now ${upgradePhase}`
  return await finish(session, outcome, tell, { wait })
}

export async function resolveUpgrade(session: Session, { id }: Located): Promise<ExitCode> {
  const outcome = await ask(session, RESOLVE_UPGRADE, { id })
  return await finish(session, outcome, ({ upgradePhase }) => `upgrade put right, now ${upgradePhase}`, {})
}

const created = ({ phase }: WriteAnswer, { paint }: Session, id: string): string =>
  `created, now ${phase}  ${paint('dim', id)}`

async function finish(
  session: Session,
  outcome: Outcome<WriteAnswer>,
  tell: (written: WriteAnswer, session: Session, id: string) => string,
  { wait }: WaitOptions,
): Promise<ExitCode> {
  if (!outcome.ok) return session.refuse(outcome.refusal)
  const { value } = outcome
  const { id, root } = value
  session.emit(Object.fromEntries(Object.entries(value).filter(([field]) => field !== '__typename')))
  session.say(`${pathOf(value)} ${tell(value, session, id)}`)
  if (!wait) return EXIT.ok
  return await follow(session, root.id, (result) => result.outcome === 'succeeded', { focusId: id })
}

/** The path with its project, as every command accepts it. */
export function pathOf({
  project,
  root,
  parent,
  name,
  id,
}: Pick<WriteAnswer, 'project' | 'root' | 'parent' | 'name' | 'id'>) {
  const above = root.id === id ? [] : parent && parent.id !== root.id ? [root.name, parent.name] : [root.name]
  return [project.name, ...above, name].join('/')
}
