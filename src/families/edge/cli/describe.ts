import { describeAttempts } from '../../../cli/objects/describe-attempts.ts'
import { describeObject } from '../../../cli/objects/describe-object.ts'
import type { Field } from '../../../cli/objects/fields.ts'
import { markedPhase, markOf } from '../../../cli/objects/phases.ts'
import type { Paint } from '../../../cli/terminal/paint.ts'
import { table } from '../../../cli/terminal/table.ts'
import { duration, shorten, words } from '../../../cli/terminal/text.ts'
import type { Machines } from '../../../client-model/index.ts'
import { describeBlocker } from '../../../client-model/index.ts'
import type { ConnectedCrm, FullCloudlet, FullInstance, ListedInstance } from './read.ts'

/** Columns that why an instance is not as wanted gets in the table; `--json` has it whole. */
const WHY_SHOWN = 60
/** Lines of things that are not as they should be, each kind; `--json` has more. */
const MOST_SHOWN = 20

/** As people read it: the cloudlet, who serves it, and a table of its cluster instances. */
export function describeCloudlet(cloudlet: FullCloudlet, machines: Machines, now: number, paint: Paint): string[] {
  return [
    ...describeObject(cloudlet, now, paint, cloudletFields(cloudlet, machines, now, paint)),
    ...beneath(cloudlet, now, paint),
  ]
}

/** As people read it: the instance, and a table of the app instances on it. */
export function describeInstance(instance: FullInstance, now: number, paint: Paint): string[] {
  return [...describeObject(instance, now, paint, instanceFields(instance, now)), ...beneath(instance, now, paint)]
}

function cloudletFields(cloudlet: FullCloudlet, machines: Machines, now: number, paint: Paint): readonly Field[] {
  const { upgradePhase, wantedVersion, version, epoch, agents, driftedInstances, orphans, resyncedAt, name } = cloudlet
  const { symbol, style } = markOf(machines.classOf(upgradePhase))
  const to = wantedVersion === null ? '' : `, to version ${wantedVersion}`
  const missing = driftedInstances.flatMap((one) =>
    one === null ? [] : [[...(one.parent && one.parent.id !== cloudlet.id ? [one.parent.name] : []), one.name]],
  )
  return [
    ['upgrade', paint(style, `${symbol} ${upgradePhase}${to}`)],
    ['version', version],
    ['epoch', String(epoch)],
    ...agents.map((agent) => [words(agent.role), describeCrm(agent, now)] as const),
    ['resynced', resyncedAt && `${resyncedAt} (${duration(Math.max(0, now - Date.parse(resyncedAt)))} ago)`],
    ...first(missing.map((path) => ['drifted', [name, ...path].join('/')] as const)),
    ...first(
      orphans.map(({ path, kind, phase }) => ['orphan', `${path.join('/')} (${words(kind)}, ${phase})`] as const),
    ),
  ]
}

/** e.g. `crm-1 as site-crm, version 1.0, epoch 3, until 2026-01-01T00:00:30.000Z (in 12.0s)`. */
function describeCrm({ instance, by, version, epoch, leaseUntil }: ConnectedCrm, now: number): string {
  const left = leaseUntil === null ? 0 : Date.parse(leaseUntil) - now
  const until = left > 0 ? `until ${leaseUntil} (in ${duration(left)})` : 'not connected any more'
  return `${instance} as ${by}, version ${version}, epoch ${epoch}, ${until}`
}

const first = (fields: readonly Field[]): readonly Field[] =>
  fields.length <= MOST_SHOWN
    ? fields
    : [...fields.slice(0, MOST_SHOWN), ['', `… and ${fields.length - MOST_SHOWN} more`]]

function instanceFields(instance: FullInstance, now: number): readonly Field[] {
  const { operationId, specRevision, spec, drifted, undoing, cloudlet, agent } = instance
  const upgrade = cloudlet?.upgradePhase === 'READY' ? '' : `, upgrade ${cloudlet?.upgradePhase}`
  return [
    ['cloudlet', cloudlet && `${cloudlet.name} (${cloudlet.phase}${upgrade})`],
    ['at', agent && `${agent.name} ${agent.instance}`],
    ['operation', operationId],
    ['spec', `revision ${specRevision}: ${JSON.stringify(spec)}`],
    ['drifted', drifted ? 'yes: as of the last resync it is not really as recorded' : null],
    ['undoing', undoing ? 'yes: its CRM is taking back what was asked' : null],
    ...describeAttempts(instance, now),
  ]
}

function beneath(
  { instances }: { readonly instances: readonly ListedInstance[] },
  now: number,
  paint: Paint,
): string[] {
  if (instances.length === 0) return []
  const rows = instances.map((instance) => [
    instance.name,
    markedPhase(instance),
    duration(Math.max(0, now - Date.parse(instance.phaseSince))),
    String(instance.specRevision),
    instance.children.totalCount ? String(instance.children.totalCount) : '',
    describeFlags(instance),
    shorten(why(instance, now), WHY_SHOWN),
  ])
  return [
    '',
    paint('bold', 'instances'),
    ...table(['NAME', 'PHASE', 'SINCE', 'REVISION', 'APPS', 'FLAGS', 'WHY'], rows),
  ]
}

/** Irregularities of an instance, whatever its phase. */
export const describeFlags = ({ drifted, undoing }: Pick<ListedInstance, 'drifted' | 'undoing'>): string =>
  [...(drifted ? ['drifted'] : []), ...(undoing ? ['undoing'] : [])].join(', ')

/** Why it is not as wanted, else what it waits for. */
function why({ error, blockedBy }: ListedInstance, now: number): string {
  if (error) return `${error.code}: ${error.message}`
  const [blocker] = blockedBy
  return blocker ? describeBlocker(blocker, now) : ''
}
