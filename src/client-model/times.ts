const TIME = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,3})?Z)/

/** Cuts a sentence of the server at the times in it: every second part is one. */
export const splitTimes = (sentence: string): readonly string[] => sentence.split(TIME)

/** The sentence apart from its times, to recognise others that differ only in them. */
export const withoutTimes = (sentence: string): string =>
  splitTimes(sentence)
    .filter((_, i) => i % 2 === 0)
    .join('')
