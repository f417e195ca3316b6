import type { HookFormat } from '../../core/hook.ts'
import type { EventTemplate, Signature } from './spec.ts'

/** The defaults of a format, for what a hook leaves out. */
export interface Format {
  /** The signature that senders of this format make; null: they have none of this kind. */
  readonly signature: Signature | null
  /** A hook may say how its sender signs. */
  readonly hasOwnSignature: boolean
  readonly event: { readonly [Field in 'source' | 'type' | 'qualifiers']: NonNullable<EventTemplate[Field]> }
}

const WITHOUT_SCHEME = '.replace("https://", "").replace("http://", "")'

/** @param name the hook's */
export const formatOf = (format: HookFormat, name: string): Format => FORMATS[format](name)

const FORMATS: Readonly<Record<HookFormat, (name: string) => Format>> = {
  GITHUB: () => ({
    signature: { header: 'x-hub-signature-256', algorithm: 'SHA256', encoding: 'HEX', prefix: 'sha256=' },
    hasOwnSignature: false,
    event: {
      source: `\${has(body.repository) ? body.repository.html_url${WITHOUT_SCHEME} : "github"}`,
      type: '${headers["x-github-event"]}',
      qualifiers: [],
    },
  }),
  GITLAB: () => ({
    signature: null,
    hasOwnSignature: false,
    event: {
      source: `\${has(body.project) ? body.project.web_url${WITHOUT_SCHEME} : "gitlab"}`,
      type: '${has(body.object_kind) ? body.object_kind : body.event_name}',
      qualifiers: [],
    },
  }),
  CLOUDEVENTS: () => ({
    signature: null,
    hasOwnSignature: true,
    event: { source: '${body.source}', type: '${body.type}', qualifiers: [] },
  }),
  STANDARD_WEBHOOKS: (name) => ({
    signature: null,
    hasOwnSignature: false,
    event: { source: name, type: '${body.type}', qualifiers: [] },
  }),
  GENERIC: (name) => ({
    signature: null,
    hasOwnSignature: true,
    event: { source: name, type: 'received', qualifiers: [] },
  }),
}
