/** True where rows have two lines and what is beside something else comes below it; the style sheets have the same width. */
export const isNarrow = (): boolean => matchMedia('(max-width: 1000px)').matches

/** The heights of the style sheets, for lists that draw only the rows in view. */
export const ROW_PX = 32
const TWO_LINES_PX = 56
export const rowHeight = (): number => (isNarrow() ? TWO_LINES_PX : ROW_PX)
