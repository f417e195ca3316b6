/** A token can be judged neither valid nor invalid at the moment, since its issuer does not answer. */
export class CredentialsUnavailable extends Error {
  override name = 'CredentialsUnavailable'
}

/** Seconds after which a caller may try again. */
export const RETRY_AFTER_S = 5
