import { readOne } from '../../../cli/manifests/one-document.ts'
import type { Io } from '../../../cli/terminal/io.ts'
import { invalid, type Outcome, refused } from '../../../client-model/index.ts'
import { instanceSpecSchema, readJson } from '../../../manifest/index.ts'

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
  const read = readJson('--spec', text)
  if (!read.ok) return refused(invalid(`${read.message}.`))
  const { success, data, error } = instanceSpecSchema.safeParse(read.value)
  return success ? { ok: true, value: data } : refused(invalid(`--spec ${error.issues[0]?.message ?? 'is not valid'}.`))
}
