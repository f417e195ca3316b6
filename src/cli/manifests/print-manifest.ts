import { writeYaml } from '../../manifest/index.ts'
import type { Session } from '../session.ts'
import { EXIT, type ExitCode } from '../terminal/exit.ts'

/** The document of an `export`: YAML, or JSON with `--json`. */
export function printManifest(session: Session, manifest: object): ExitCode {
  session.emit(manifest)
  session.say(...writeYaml(manifest).trimEnd().split('\n'))
  return EXIT.ok
}
