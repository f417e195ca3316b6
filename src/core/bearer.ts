/** Tokens as requests carry them. By RFC 6750 they have no other characters. */
const CHARACTER = '[\\w.~+/=-]'

/** Characters of a request's token: JSON Web Tokens have thousands, and Node reads 16 KiB of headers. */
const MAX_LENGTH = 8_192

/** `Authorization: Bearer …`, with the token as its group. */
export const BEARER = new RegExp(`^Bearer +(${CHARACTER}{1,${MAX_LENGTH}})$`, 'i')

const CHOSEN = new RegExp(`^${CHARACTER}{16,512}$`)
/** A token that an operator has chosen: requests can carry it, and nobody guesses it. */
export const isChosenToken = (text: string): boolean => CHOSEN.test(text)
export const CHOSEN_TOKEN_RULE =
  'must be 16 to 512 ASCII letters, digits or - . _ ~ + / =, since requests can carry no others'
