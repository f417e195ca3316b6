import type { SecureContextOptions } from 'node:tls'

/** Certificate and key of the server, which change while it runs. */
export interface TlsSource {
  /** PEM. The certificate comes first, then those that lead to its authority. */
  readonly current: { readonly cert: Buffer; readonly key: Buffer }
  /** Called whenever `current` has changed. */
  onChange(changed: () => void): void
}

/** Older versions are broken. */
const MIN_VERSION = 'TLSv1.2'
/** Milliseconds. */
const HANDSHAKE_MS = 10_000

export const contextOf = ({ cert, key }: TlsSource['current']): SecureContextOptions => ({
  cert,
  key,
  minVersion: MIN_VERSION,
})

export const tlsOptions = (source: TlsSource) => ({ ...contextOf(source.current), handshakeTimeout: HANDSHAKE_MS })

/** Browsers call the server over https only from then on, for a year. */
export const STRICT_TRANSPORT = ['strict-transport-security', 'max-age=31536000'] as const
