import type { FamilyCli } from '../define-family.ts'
import { addEvent } from './cli/event.ts'
import { addPlace, addPlaces } from './cli/place.ts'
import { addSecret } from './cli/secret.ts'

export const cli: FamilyCli = { commands: [addSecret, addEvent, addPlaces, addPlace] }
