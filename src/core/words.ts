/** A constant as people read it: DEPLOY_ITEM is a deploy item, APP_INST an app instance. */
export const words = (constant: string): string =>
  constant
    .toLowerCase()
    .replaceAll('_', ' ')
    .replace(/ inst$/, ' instance')

/** e.g. `an event`. */
export const articled = (noun: string): string => `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`
