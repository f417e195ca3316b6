import { describe } from 'vitest'
import { canIsolate, ISOLATED } from '../testkit/bubblewrap.ts'
import { cloneConformance } from './clone-conformance.ts'
import { type Conformance, conformance } from './conformance.ts'
import { processPlace } from './process-place.ts'
import { servicesConformance } from './services-conformance.ts'

const LEVELS = (await canIsolate())
  ? [['trusted', null] as const, ['isolated', ISOLATED] as const]
  : [['trusted', null] as const]

describe.each(LEVELS)('process, %s', (_, isolation) => {
  const suite: Conformance = {
    openPlace: () => processPlace(isolation),
    hasImages: false,
    tellsErrorsApart: true,
    hasSecretVariables: true,
  }
  conformance(suite)
  cloneConformance(suite)
  servicesConformance(suite)
})
