import type { Problems } from '../../../core/problems.ts'
import { requireJudged } from '../../../sandbox/index.ts'
import { checkCron } from '../../when.ts'
import { normaliseSpec, type SpecInput } from '../rules/normalise.ts'
import type { InstallationSpec } from '../rules/spec.ts'
import { expressionsOf, givenValuesOf, schemasOf, validateSpec } from '../rules/validate.ts'
import { checkConfigs } from './check-configs.ts'
import type { CommandParts } from './parts.ts'

/** Converts input to the stored spec and collects its problems. The sandbox parses expressions, and judges schemas and configs. */
export async function readSpec(
  { sandbox, system }: Pick<CommandParts, 'sandbox' | 'system'>,
  input: SpecInput,
  problems: Problems,
  /** The owner of what the sandbox judges. */
  owner: string,
): Promise<InstallationSpec> {
  const spec = normaliseSpec(input, 'input.spec', problems)
  if (problems.found.length > 0) return spec
  for (const name of ['afterSuccess', 'afterFailure'] as const) {
    const times = spec.automaticReconcile?.[name]
    const path = `input.spec.automaticReconcile.${name}`
    if (times) checkCron(times, { now: system.now(), path }, problems)
  }
  await checkConfigs({ sandbox, owner, problems, now: system.now() }, spec, 'input.spec')
  const sources = expressionsOf(spec)
  const analysed = sources.length > 0 ? await sandbox.analyze(sources) : []
  const references = new Map(
    sources.map((source, i) => [source, analysed[i] ?? { ok: false as const, message: 'could not be read' }]),
  )
  const schemas = schemasOf(spec, 'input.spec')
  const jobs = schemas.map(({ schema }) => ({ type: 'schema', value: schema }) as const)
  const inspected = jobs.length > 0 ? await sandbox.inspect(jobs, owner) : []
  for (const [i, verdict] of inspected.entries()) {
    const found = verdict.ok ? verdict.problems : [verdict]
    for (const { message } of found) problems.add(schemas[i]?.path ?? '', message)
  }
  const given = problems.found.length > 0 ? [] : givenValuesOf(spec, 'input.spec')
  const verdicts = given.length > 0 ? await sandbox.validate(given, owner) : []
  requireJudged(verdicts)
  for (const [i, { path, name }] of given.entries()) {
    const verdict = verdicts[i]
    if (verdict?.ok === false) problems.add(path, `${name}: ${verdict.message}`)
  }
  return validateSpec(spec, 'input.spec', references, problems)
}
