import { preview, REQUEST } from '../preview.ts'
import { tool } from '../tool.ts'

export const whatWouldHappen = tool({
  name: 'what_would_happen',
  title: 'What would happen',
  description:
    'Says what a verb of an object, or applying the manifest of an installation, would do now, in order. Nothing is written.',
  input: REQUEST,
  async run(request, call) {
    const { lines, data } = await preview(request, call)
    return { lines, data }
  },
})
