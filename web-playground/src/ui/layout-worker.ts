import { answerLayout, type LayoutRequest } from './layout.ts'

/** The layout of graphs, beside the page: a large one takes longer than a frame. */
addEventListener('message', ({ data }: MessageEvent<LayoutRequest>) => postMessage(answerLayout(data)))
