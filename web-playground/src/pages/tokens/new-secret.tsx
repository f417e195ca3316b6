import { connectCommand, settingsCommand } from '../../model/tokens.ts'
import { CopyBox } from '../../ui/copy-box.tsx'
import type { Made } from './new-token.tsx'

/** The secret of a new token, which is shown once, and what to paste to use it. */
export function NewSecret({ made: { secret, form }, onClose }: { readonly made: Made; readonly onClose: () => void }) {
  const url = new URL('/graphql', location.href).href
  const isDeployer = form.holder.actor === 'DEPLOYER'
  return (
    <section className="card is-done new-secret" aria-labelledby="new-secret">
      <h2 id="new-secret">{form.name} is created</h2>
      <p>Copy the secret now: it cannot be shown again.</p>
      <CopyBox label="Secret" text={secret} />
      {isDeployer && (
        <>
          <h3>Connect an agent</h3>
          <p className="quiet">Paste this into a shell: it writes an agent of your own and connects it.</p>
          <CopyBox label="Command" text={connectCommand({ url, secret, types: form.types })} />
        </>
      )}
      <h3>{isDeployer ? 'Or connect what you have' : 'Use it'}</h3>
      <p className="quiet">
        Agents and the command line read these settings. <a href="/docs/first-agent">How to write an agent</a>
      </p>
      <CopyBox label="Settings" text={settingsCommand({ url, secret })} />
      <div className="row">
        <button type="button" onClick={onClose}>
          Done
        </button>
      </div>
    </section>
  )
}
