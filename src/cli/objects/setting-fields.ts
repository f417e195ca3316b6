import { writtenSettings } from '../../manifest/write-manifest.ts'
import { type Field, shownValue } from './fields.ts'

/** The settings of an installation that differ from the defaults; labels are among the fields of every object. */
export const settingFields = (shown: Parameters<typeof writtenSettings>[0]): readonly Field[] =>
  Object.entries(writtenSettings({ ...shown, labels: [] })).map(([key, value]) => [key, shownValue(value)])
