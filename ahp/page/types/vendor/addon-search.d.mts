export * from '@xterm/addon-search';
