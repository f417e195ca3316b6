import { writtenSpec } from '../../manifest/write-manifest.ts'
import { writeYaml } from '../../manifest/write-yaml.ts'
import type { Paint } from '../terminal/paint.ts'

/** Enough for a screen. */
const MOST_LINES = 60

interface WithSpec {
  readonly name: string
  readonly project: { readonly name: string }
  readonly spec: unknown
}
interface WithConfig {
  readonly id: string
  readonly config: unknown
}

/** The spec of an installation as its manifest has it. */
export const describeSpec = ({ name, project, spec }: WithSpec, paint: Paint): readonly string[] =>
  describe('spec', writtenSpec(spec), paint, `phaseline export ${project.name}/${name}`)

/** The config of a deploy item, with its expressions. */
export const describeConfig = ({ id, config }: WithConfig, paint: Paint): readonly string[] =>
  describe('config', config, paint, `phaseline get ${id} -o yaml`)

/** @param whole the command that prints all of it */
function describe(heading: string, value: unknown, paint: Paint, whole: string): readonly string[] {
  if (value === null || (typeof value === 'object' && Object.keys(value).length === 0)) return []
  const lines = writeYaml(value).trimEnd().split('\n')
  const rest = lines.length - MOST_LINES
  const more = rest > 0 ? [paint('dim', `  … and ${rest} more lines: ${whole}`)] : []
  return ['', paint('bold', heading), ...lines.slice(0, MOST_LINES).map((line) => `  ${line}`), ...more]
}
