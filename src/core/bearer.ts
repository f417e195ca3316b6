/** Tokens as requests carry them. By RFC 6750 they have no other characters. */
const CHARACTER = '[\\w.~+/=-]'

/** `Authorization: Bearer …`, with the token as its group. */
export const BEARER = new RegExp(`^Bearer +(${CHARACTER}{1,512})$`, 'i')

const CHOSEN = new RegExp(`^${CHARACTER}{16,512}$`)
/** A token that an operator has chosen: requests can carry it, and nobody guesses it. */
export const isChosenToken = (text: string): boolean => CHOSEN.test(text)
export const CHOSEN_TOKEN_RULE =
  'must be 16 to 512 ASCII letters, digits or - . _ ~ + / =, since requests can carry no others'
