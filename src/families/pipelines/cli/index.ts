import type { FamilyCli } from '../../define-family.ts'
import { addEvent } from './event.ts'
import { addPlace, addPlaces } from './place.ts'
import { addSecret } from './secret.ts'

export const cli: FamilyCli = { commands: [addSecret, addEvent, addPlaces, addPlace] }
