import { normaliseSpec, type Problems, type SpecInput } from '../normalise.ts'
import type { InstallationSpec } from '../spec.ts'
import { expressionsOf, schemasOf, validateSpec } from '../validate.ts'
import type { LabelInput } from './inputs.ts'
import type { CommandParts } from './parts.ts'

/** From input to what is stored, with everything that is wrong with it. Expressions are only read, in the sandbox. */
export async function readSpec(
  { sandbox }: Pick<CommandParts, 'sandbox'>,
  input: SpecInput,
  problems: Problems,
): Promise<InstallationSpec> {
  const spec = normaliseSpec(input, 'input.spec', problems)
  if (problems.found.length > 0) return spec
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

export function labelsOf(labels: readonly LabelInput[], problems: Problems): Readonly<Record<string, string>> {
  for (const [i, { key, value }] of labels.entries()) {
    if (!/^[A-Za-z0-9]([A-Za-z0-9._/-]{0,251}[A-Za-z0-9])?$/.test(key))
      problems.add(`input.labels.${i}.key`, 'must be a plain word')
    if (value.length > 255) problems.add(`input.labels.${i}.value`, 'must have at most 255 characters')
    if (labels.findIndex((l) => l.key === key) < i) problems.add(`input.labels.${i}.key`, `${key} stands twice`)
  }
  if (labels.length > 64) problems.add('input.labels', 'must not be more than 64')
  return Object.fromEntries(labels.map(({ key, value }) => [key, value]))
}
