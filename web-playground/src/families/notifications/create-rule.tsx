import { type FormEvent, useState } from 'react'
import { Outcome } from '../../ui/states.tsx'
import { NameField } from '../../ui/things-card.tsx'
import { useAct } from '../../ui/use-act.ts'

interface Props {
  readonly project: string
  readonly onDone: () => Promise<unknown> | undefined
}

const EMPTY = { name: '', tells: 'failures', channel: 'webhook', to: '', secret: '' }
const TELLS: Readonly<Record<string, readonly [label: string, changes: object]>> = {
  failures: ['roots that fail', { classes: ['FAILED'], rootsOnly: true }],
  ends: ['roots that end', { classes: ['FAILED', 'STOPPED', 'DONE'], rootsOnly: true }],
  schedules: [
    'schedules that skip, are late or overdue',
    {
      kinds: ['SCHEDULE'],
      reasons: [...['LATE', 'MISSED', 'OVERLAP', 'QUEUE_FULL', 'REPLACED', 'REFUSED', 'FORBIDDEN', 'OVERDUE']],
    },
  ],
  all: ['every change', {}],
}
const CHANNELS: Readonly<Record<string, readonly [label: string, to: string | null, secret: string | null]>> = {
  webhook: ['Webhook', 'URL', 'Name of the secret that signs, if any'],
  cloudEvents: ['CloudEvents', 'URL', 'Name of the secret that signs, if any'],
  slack: ['Slack', null, 'Name of the secret that is the URL'],
  email: ['E-mail', 'Addresses, with commas between them', null],
}

/** Creates a rule with one of the common selections; a file can say everything. */
export function CreateRule({ project, onDone }: Props) {
  const { busy, result, ask } = useAct(onDone)
  const [fields, setFields] = useState(EMPTY)
  const { name, tells, channel, to, secret } = fields
  const [, toLabel, secretLabel] = CHANNELS[channel] ?? ['', null, null]
  const change = (changed: Partial<typeof EMPTY>): void => setFields({ ...fields, ...changed })
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault()
    const signed = secret === '' ? {} : { secret }
    const receivers: Readonly<Record<string, object>> = {
      slack: { secret },
      email: { to: to.split(',').map((address) => address.trim()) },
    }
    const receiver = { [channel]: receivers[channel] ?? { url: to, ...signed } }
    const variables = { project, name, changes: TELLS[tells]?.[1], receiver }
    const input = 'CreateNotificationRuleInput'
    const { ok } = await ask({ field: 'createNotificationRule', input, done: `${name} is created.`, variables })
    if (ok) setFields(EMPTY)
  }
  return (
    <form className="inline-form" onSubmit={(event) => void submit(event)}>
      <NameField value={name} onChange={(named) => change({ name: named })} />
      <label>
        <span>Tells</span>
        <select value={tells} onChange={({ target }) => change({ tells: target.value })}>
          {Object.entries(TELLS).map(([key, [label]]) => (
            <option key={key} value={key}>
              {label}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>To</span>
        <select value={channel} onChange={({ target }) => change({ channel: target.value })}>
          {Object.entries(CHANNELS).map(([key, [label]]) => (
            <option key={key} value={key}>
              {label}
            </option>
          ))}
        </select>
      </label>
      {toLabel !== null && (
        <label className="grow">
          <span>{toLabel}</span>
          <input value={to} required spellCheck={false} onChange={({ target }) => change({ to: target.value })} />
        </label>
      )}
      {secretLabel !== null && (
        <label className="grow">
          <span>{secretLabel}</span>
          <input
            value={secret}
            required={channel === 'slack'}
            spellCheck={false}
            autoComplete="off"
            onChange={({ target }) => change({ secret: target.value })}
          />
        </label>
      )}
      <button type="submit" disabled={busy}>
        Add rule
      </button>
      <p className="quiet">
        Kinds, phases, labels and texts: <code>phaseline notification apply -f FILE</code>
      </p>
      <Outcome result={result} />
    </form>
  )
}
