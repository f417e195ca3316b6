import type { Problems } from '../../../core/problems.ts'
import { checkCron } from '../../when.ts'
import { normaliseSpec, type SpecInput } from '../rules/normalise.ts'
import type { InstallationSpec } from '../rules/spec.ts'
import { expressionsOf, schemasOf, validateSpec } from '../rules/validate.ts'
import { checkConfigs } from './check-configs.ts'
import type { CommandParts } from './parts.ts'

/** Converts input to the stored spec and collects its problems. The sandbox only parses expressions. */
export async function readSpec(
  { sandbox, system }: Pick<CommandParts, 'sandbox' | 'system'>,
  input: SpecInput,
  problems: Problems,
): Promise<InstallationSpec> {
  const spec = normaliseSpec(input, 'input.spec', problems)
  if (problems.found.length > 0) return spec
  for (const name of ['afterSuccess', 'afterFailure'] as const) {
    const times = spec.automaticReconcile?.[name]
    const path = `input.spec.automaticReconcile.${name}`
    if (times) checkCron(times, { now: system.now(), path }, problems)
  }
  await checkConfigs(sandbox, spec, 'input.spec', problems)
  const sources = expressionsOf(spec)
  const analysed = sources.length > 0 ? await sandbox.analyze(sources) : []
  const references = new Map(
    sources.map((source, i) => [source, analysed[i] ?? { ok: false as const, message: 'could not be read' }]),
  )
  for (const { path, schema } of schemasOf(spec, 'input.spec')) {
    const verdict = sandbox.checkSchema(schema)
    if (!verdict.ok) problems.add(path, verdict.message)
  }
  return validateSpec(spec, 'input.spec', references, problems)
}
