import type { Theme } from 'vitepress'
// Its fonts would be half of the site.
import theme from 'vitepress/theme-without-fonts'
import { h } from 'vue'
import './style.css'

/** Of the server that brings the site. Links of the configuration cannot lead out of /docs. */
const toDashboard = () => h('a', { class: 'to-dashboard', href: '/', target: '_self' }, 'Dashboard')

export default {
  extends: theme,
  Layout: () =>
    h(theme.Layout, null, { 'nav-bar-content-after': toDashboard, 'nav-screen-content-after': toDashboard }),
} satisfies Theme
