import { expect, test } from 'vitest'
import { transitionRefused } from '../../src/core/errors.ts'
import { RIGHTS, requireRight } from '../../src/core/rights.ts'
import { words } from '../../src/core/words.ts'

test('kinds are words of people', () => {
  expect(['DEPLOY_ITEM', 'APP_INST', 'CLUSTER_INST', 'INSTALLATION'].map(words)).toEqual([
    'deploy item',
    'app instance',
    'cluster instance',
    'installation',
  ])
  expect(transitionRefused('APP_INST', 'READY', 'CRM', 'CREATING', []).message).toMatch(
    /^CRM may not move an app instance from READY to CREATING;/,
  )
})

test('a refused right names what people call it', () => {
  const reader = { name: 'eve', actor: 'USER', grants: [{ role: 'VIEWER', projectId: null }] } as const
  expect(requireRight(reader, RIGHTS.readPrincipals)?.message).toBe(
    'eve may not read tokens and users: it takes the role ADMIN.',
  )
  expect(requireRight(reader, RIGHTS.updateLabels)?.message).toMatch(/^eve may not label object: /)
})
