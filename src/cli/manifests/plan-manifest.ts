import { forecastText, type Outcome, outcomeOf, REFUSAL_FRAGMENT } from '../../client-model/index.ts'
import { gql } from '../../documents/gql.ts'
import type { ResultOf } from '../../documents/typed-document.ts'
import { addressIn } from '../objects/address.ts'
import { describeDiff } from '../objects/describe-diff.ts'
import type { Session } from '../session.ts'
import { EXIT } from '../terminal/exit.ts'
import { table } from '../terminal/table.ts'
import { duration, words } from '../terminal/text.ts'
import type { Previewed } from './appliable.ts'
import { findInstallation, type PlacedManifest, staysAsItIs } from './apply-manifest.ts'
import { askTargets, type DryRun, describeDryRun, exitOf } from './dry-run-manifest.ts'

const PLAN = gql(`query Plan($input: PlanInstallationInput!) {
  planInstallation(input: $input) {
    __typename
    ... on InstallationPlan { steps { order action kind path reason } blockers { reason message kind path objectCount }
      broughtCode { path type level message permitted } spec { truncated differences { path change before after } }
      forecast { p50 p90 runs endedRuns } }
    ...Refusal
  }
}\n${REFUSAL_FRAGMENT}`)

type Plan = Extract<NonNullable<ResultOf<typeof PLAN>['planInstallation']>, { __typename: 'InstallationPlan' }>
type Blocker = Plan['blockers'][number]
type Code = Plan['broughtCode'][number]

const ACTIONS = { create: 'created', update: 'updated' } as const

export async function readPlan(session: Session, manifest: PlacedManifest) {
  const { name, project, spec } = manifest
  const existing = await findInstallation(session, manifest)
  const input = existing ? { update: { id: existing.id, spec } } : { create: { project, name, spec } }
  const { planInstallation } = await session.client.query(PLAN, { input }, { signal: session.io.signal })
  return { existing, action: existing ? 'update' : 'create', input, outcome: outcomeOf(planInstallation) } as const
}

/** Prints how applying the manifest would change the spec, and how many objects. Nothing is written. */
export async function diffManifest(session: Session, manifest: PlacedManifest): Promise<Outcome<Previewed>> {
  const { name, project } = manifest
  const { action, outcome } = await readPlan(session, manifest)
  if (!outcome.ok) return outcome
  const { steps, spec } = outcome.value
  session.emit({ project, name, action, spec, steps })
  const where = addressIn(project, [name])
  if (!spec?.differences.length) {
    session.say(`${where}: the spec stays as it is`)
    return { ok: true, value: { action: 'unchanged', code: EXIT.ok } }
  }
  const counts = [...Map.groupBy(steps, (step) => step.action)].map(
    ([what, some]) => `${some.length} to ${words(what)}`,
  )
  session.say(`${where}: ${counts.join(', ')}`, ...describeDiff(spec, session.paint))
  return { ok: true, value: { action: ACTIONS[action], code: EXIT.ok } }
}

/** Prints what applying the manifest would do, in order. Nothing is written. */
export async function planManifest(
  session: Session,
  manifest: PlacedManifest,
  onTarget: boolean,
): Promise<Outcome<Previewed>> {
  const { name, project } = manifest
  const { existing, action, input, outcome } = await readPlan(session, manifest)
  if (!outcome.ok) return outcome
  // The targets may differ from a spec that stays as it is.
  if (!onTarget && existing && staysAsItIs(existing, manifest, outcome.value.spec?.differences.length ?? 0)) {
    session.emit({ project, name, action: 'unchanged', steps: [], blockers: [], broughtCode: [] })
    session.say(`${addressIn(project, [name])} unchanged: nothing would run`)
    return { ok: true, value: { action: 'unchanged', code: EXIT.ok } }
  }
  const asked = onTarget ? await askTargets(session, input) : null
  const dryRun = asked?.ok ? asked.dryRun : null
  printPlan(session, { project, name, action, ...outcome.value, ...(dryRun && { dryRun }) })
  if (asked && !asked.ok) return asked
  if (dryRun) session.say('', ...describeDryRun(dryRun, session.paint))
  return { ok: true, value: { action: ACTIONS[action], code: dryRun ? exitOf(dryRun) : EXIT.ok } }
}

interface Printed extends Pick<Plan, 'steps' | 'blockers' | 'broughtCode' | 'forecast'> {
  readonly project: string
  readonly name: string
  readonly action: string
  readonly dryRun?: DryRun
}

function printPlan(session: Session, plan: Printed): void {
  const { project, name, action, steps, blockers, broughtCode, forecast, dryRun } = plan
  session.emit({ project, name, action, steps, blockers, broughtCode, forecast, ...(dryRun && { dryRun }) })
  if (steps.length === 0) session.say('Nothing would be done.')
  else
    session.say(
      ...table(
        ['STEP', 'ACTION', 'KIND', 'OBJECT', 'WHY'],
        steps.map(({ order, action, kind, path, reason }) => [
          String(order),
          words(action),
          words(kind),
          addressIn(project, path),
          reason ?? '',
        ]),
      ),
    )
  const expected = forecastText(forecast, Date.now(), duration, '')
  if (expected) session.say('', `Expected: ${expected}`)
  const fails = blockers.filter(({ reason }) => reason === 'TARGET')
  const waits = blockers.filter((one) => !fails.includes(one))
  for (const [what, some] of Object.entries({ wait: waits, fail: fails }))
    if (some.length > 0)
      session.say('', `As things are now, it would ${what}:`, ...some.map((one) => describe(session, one)))
  if (broughtCode.length > 0)
    session.say(
      '',
      'These items bring code, which takes the role AUTHOR:',
      ...[...Map.groupBy(broughtCode, ({ type }) => type).values()].map((some) => describeCode(session, some)),
    )
}

/** Items of one type, which the caller may write all or not at all. */
function describeCode({ paint }: Session, [first, ...others]: readonly Code[]): string {
  if (!first) return ''
  const { path, message, permitted } = first
  const mark = permitted ? paint('dim', '○') : paint('red', '✗')
  const more = others.length > 0 ? paint('dim', ` (and ${others.length} more)`) : ''
  return `${mark} ${path.join('/')}: ${message}${permitted ? '' : ' You may not write it.'}${more}`
}

function describe({ paint }: Session, { path, message, objectCount }: Blocker): string {
  const others = objectCount > 1 ? paint('dim', ` (and ${objectCount - 1} more)`) : ''
  return `${paint('yellow', '○')} ${path.join('/')}: ${message}${others}`
}
