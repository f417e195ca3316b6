import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import type { PhaseChangeRecord } from '../../src/core/ports/phase-change.ts'
import { decode, encode, originOf } from '../../src/log/announcement.ts'

const SIGNER = { instance: 'one', key: Buffer.from('of this database') }
const AT = new Date('2026-11-29T12:00:00.000Z')
const RECORD: PhaseChangeRecord = {
  ...{ sequence: 7, batchId: '3', idx: 0, objectId: 'o', rootId: 'r', parentId: 'p', parentPath: 'shop/backend' },
  ...{ projectId: 'w', projectName: 'web', kind: 'DEPLOY_ITEM', name: 'db', machine: 'item', from: 'INIT' },
  ...{ to: 'FAILED', actor: 'DEPLOYER', by: 'helm', byId: 'h', reason: 'failed', message: 'no disk', jobId: 'j' },
  ...{ revision: 4, rejected: false, at: AT },
}
/** The values of a message as the release before sends and expects them. */
const ROW = [
  ...[7, '3', 0, 'o', 'r', 'p', 'w', 'web', 'DEPLOY_ITEM', 'db', 'item', 'INIT', 'FAILED', 'DEPLOYER', 'helm', 'h'],
  ...['failed', 'no disk', 'j', 4, false, AT.toISOString()],
]
const announcement = { instance: 'one', from: 7, through: 7, changes: [RECORD], traces: [] }

function signed(content: object): string {
  const text = JSON.stringify(content)
  return `me ${createHmac('sha256', SIGNER.key).update(text).digest('base64url')} ${text}`
}

test('an announcement is what it was', () => {
  const message = encode(announcement, 'me', SIGNER)
  expect(originOf(message)).toBe('me')
  expect(decode(message, SIGNER)).toEqual(announcement)
  expect(decode(message, { ...SIGNER, key: Buffer.from('of another') })).toBeNull()
})

test('processes of two releases understand each other', () => {
  const sent = JSON.parse(encode(announcement, 'me', SIGNER).split(' ').slice(2).join(' ')) as { changes: unknown }
  expect(sent.changes).toEqual([ROW])
  const before = decode(signed({ from: 7, through: 7, changes: [ROW], paths: ['shop/backend'] }), SIGNER)
  expect(before?.changes).toEqual([{ ...RECORD, parentPath: null }])
  const named = { parentPath: ['shop/backend'], ofTheNextRelease: ['x'] }
  expect(decode(signed({ from: 7, through: 7, changes: [ROW], named }), SIGNER)).toEqual(announcement)
})
