import { describe } from 'vitest'
import { canIsolate, ISOLATED } from '../testkit/bubblewrap.ts'
import { conformance } from './conformance.ts'
import { processPlace } from './process-place.ts'

const LEVELS = (await canIsolate())
  ? [['trusted', null] as const, ['isolated', ISOLATED] as const]
  : [['trusted', null] as const]

describe.each(LEVELS)('process, %s', (_, isolation) => {
  conformance({
    openPlace: () => processPlace(isolation),
    hasImages: false,
    tellsErrorsApart: true,
    hasSecretVariables: true,
  })
})
