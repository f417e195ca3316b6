import { randomBytes, randomUUID } from 'node:crypto'
import { Counts } from '../../core/counts.ts'
import type { HookHeaders, HookPort, OpenHook, ReceivedRequest } from '../../core/ports/hooks.ts'
import { type HookSecretRow, hookSecretPlace, loadHookSecrets } from '../../store/hooks.ts'
import { HOOK, type Hook, type HookParts } from '../commands/parts.ts'
import { formatOf } from '../rules/formats.ts'
import { authenticSecret } from './authenticate.ts'
import { receive, signatureOf } from './receive.ts'

/** The hooks of this server, for its gateway. */
export function createHookPort(parts: HookParts): HookPort {
  const counts: HookPort['counts'] = new Counts()
  return {
    counts,
    async find(project, name) {
      const hook = await HOOK.records.named(parts.pool, { project, name }, null)
      const id = hook?.id ?? NO_HOOK
      const sealed = (await loadHookSecrets(parts.pool, [id])).get(id) ?? []
      return hook ? open(parts, hook, sealed, counts) : noHook(parts, counts)
    },
  }
}

const NO_HOOK = randomUUID()
const NO_SECRET = [{ name: '', value: randomBytes(32).toString('hex') }]

/** Does what a hook of GitHub does for a request that is not authentic. */
function noHook({ sealing, system }: HookParts, counts: HookPort['counts']): OpenHook {
  const { signature } = formatOf('GITHUB', '')
  return {
    id: NO_HOOK,
    secrets: 1,
    authenticate(headers, body) {
      authenticSecret(NO_SECRET, { format: 'GITHUB', signature, headers, body, now: system.now() })
      counts.add({ outcome: 'UNAUTHENTIC' })
      return { ok: false, lacksKey: !sealing.canSeal }
    },
    receive: () => Promise.reject(new Error('There is no hook.')),
  }
}

function open(parts: HookParts, hook: Hook, sealed: readonly HookSecretRow[], counts: HookPort['counts']): OpenHook {
  const { sealing, system } = parts
  const secrets = sealed.flatMap(({ name, sealed: text }) => {
    const value = sealing.open(hookSecretPlace({ ...hook, ownerId: hook.id, name }), text)
    return value === null ? [] : [{ name, value }]
  })
  return {
    id: hook.id,
    secrets: secrets.length,
    authenticate(headers: HookHeaders, body: Buffer) {
      const judged = { format: hook.format, signature: signatureOf(hook), headers, body, now: system.now() }
      const secretName = authenticSecret(secrets, judged)
      if (secretName !== null) return { ok: true, secretName }
      counts.add({ outcome: 'UNAUTHENTIC' })
      return { ok: false, lacksKey: !sealing.canSeal }
    },
    async receive(request: ReceivedRequest) {
      const answered = await receive(parts, hook, request)
      for (const { outcome } of answered) counts.add({ outcome })
      // The gravest of a batch, which is sent again as a whole: what was accepted before is then a duplicate.
      const status = answered.reduce<number>((worst, each) => Math.max(worst, each.status), 200)
      return { status, deliveries: answered.map(({ status: _, ...delivery }) => delivery) }
    },
  }
}
