import { readOne } from '../../../cli/manifests/one-document.ts'
import { invalid, type Outcome, refused } from '../../../cli/objects/refusal.ts'
import type { Io } from '../../../cli/terminal/io.ts'
import { instanceSpecSchema } from '../../../manifest/index.ts'

export interface SpecOptions {
  readonly spec?: string
  readonly file?: string
}
type Spec = Readonly<Record<string, unknown>>

/** The spec of an instance as it was given, in the arguments or in a file. */
export async function readSpec(io: Io, { spec, file }: SpecOptions): Promise<Outcome<Spec>> {
  if (spec !== undefined && file === undefined) return parseSpec(spec)
  if (spec === undefined && file !== undefined)
    return await readOne(io, file, { schema: instanceSpecSchema, what: 'a spec' })
  return refused(invalid('Give the spec, either with --spec or with --file.'))
}

function parseSpec(text: string): Outcome<Spec> {
  try {
    const { success, data, error } = instanceSpecSchema.safeParse(JSON.parse(text))
    if (success) return { ok: true, value: data }
    return refused(invalid(`--spec ${error.issues[0]?.message ?? 'is not valid'}.`))
  } catch (error) {
    return refused(invalid(`--spec is not JSON (${error instanceof Error ? error.message : error}).`))
  }
}
