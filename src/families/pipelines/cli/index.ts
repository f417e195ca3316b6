import type { FamilyCli } from '../../define-family.ts'
import { addArtifact, addCache } from '../artifacts/cli.ts'
import { addPlace, addPlaces } from '../placement/cli.ts'
import { addEvent, shows } from './event.ts'
import { addImportBrigade } from './import-brigade.ts'

export const cli: FamilyCli = {
  commands: [addEvent, addArtifact, addCache, addPlaces, addPlace, addImportBrigade],
  shows,
}
