/** The console begins: its look, and the page. */

import './look/console.css';
import './look/sending.css';
import { mount } from 'svelte';
import App from './app.svelte';

const target = document.getElementById('console');
if (target === null) throw new Error('index.html has no place for the console');
mount(App, { target });
